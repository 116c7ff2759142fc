"""Nodes and links of a project, as GNS3's v3 API offers them."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from projects.demolab import factory, shapes
from projects.demolab.errors import Refusal, body, int_field, text_field
from projects.demolab.lab import Lab
from projects.demolab.model import Link, LinkEnd, Node, NodeType
from projects.demolab.state import Project

POWERED_ON = "Sorry, it is not possible to rename a node that is already powered on"


def project_of(lab: Lab, request: web.Request) -> Project:
    project_id = request.match_info["project"]
    project = lab.state.projects.get(project_id)
    if project is None:
        raise Refusal(404, f"Project ID {project_id} doesn't exist")
    return project


class ProjectApi:
    """Handlers below /v3/projects/{project}/."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def add_to(self, app: web.Application) -> None:
        nodes = "/v3/projects/{project}/nodes"
        links = "/v3/projects/{project}/links"
        app.add_routes(
            [
                web.post(
                    "/v3/projects/{project}/templates/{template}", self.from_template
                ),
                web.get(nodes, self.nodes),
                web.post(nodes, self.create_node),
                web.post(f"{nodes}/start", self._all(self._lab.start_node)),
                web.post(f"{nodes}/stop", self._all(self._lab.stop_node)),
                web.post(f"{nodes}/suspend", self._all(self._stay)),
                web.post(f"{nodes}/reload", self._all(self._lab.reload_node)),
                web.get(f"{nodes}/{{node}}", self.node),
                web.put(f"{nodes}/{{node}}", self.update_node),
                web.delete(f"{nodes}/{{node}}", self.delete_node),
                web.post(f"{nodes}/{{node}}/start", self._one(self._lab.start_node)),
                web.post(f"{nodes}/{{node}}/stop", self._one(self._lab.stop_node)),
                web.post(f"{nodes}/{{node}}/suspend", self._one(self._stay)),
                web.post(f"{nodes}/{{node}}/reload", self._one(self._lab.reload_node)),
                web.get(f"{nodes}/{{node}}/links", self.node_links),
                web.get(links, self.links),
                web.post(links, self.create_link),
                web.get(f"{links}/{{link}}", self.link),
                web.put(f"{links}/{{link}}", self.update_link),
                web.delete(f"{links}/{{link}}", self.delete_link),
                web.post(f"{links}/{{link}}/reset", self.link),
                web.get(f"{links}/{{link}}/available_filters", self.no_filters),
            ]
        )

    async def nodes(self, request: web.Request) -> web.Response:
        project = project_of(self._lab, request)
        nodes = project.network.nodes.values() if project.is_opened else []
        return web.json_response([self._json(project, node) for node in nodes])

    async def from_template(self, request: web.Request) -> web.Response:
        project = self._opened(request)
        template_id = request.match_info["template"]
        template = next(
            (t for t in shapes.TEMPLATES if t.template_id == template_id), None
        )
        if template is None:
            raise Refusal(404, f"Template ID {template_id} doesn't exist")
        data = await body(request)
        x, y = int_field(data, "x"), int_field(data, "y")
        # GNS3 takes a name here and ignores it.
        name = factory.free_name(project.network, template.name_format)
        return await self._add(project, template.node_type, name, x, y)

    async def create_node(self, request: web.Request) -> web.Response:
        project = self._opened(request)
        data = await body(request)
        name = self._name(data)
        try:
            node_type = NodeType(text_field(data, "node_type"))
        except ValueError:
            raise Refusal(
                409, "The simulated lab has only vpcs, dynamips and ethernet_switch"
            ) from None
        x, y = int_field(data, "x", 0), int_field(data, "y", 0)
        return await self._add(project, node_type, name, x, y)

    async def node(self, request: web.Request) -> web.Response:
        project, node = self._find(request)
        return web.json_response(self._json(project, node))

    async def update_node(self, request: web.Request) -> web.Response:
        project, node = self._find(request)
        data = await body(request)
        if "name" in data and data["name"] != node.name:
            name = self._name(data)
            if node.is_started and node.node_type is not NodeType.SWITCH:
                raise Refusal(409, POWERED_ON)
            self._rename(node, name)
        node.x, node.y = int_field(data, "x", node.x), int_field(data, "y", node.y)
        self._lab.node_changed(project, node)
        return web.json_response(self._json(project, node))

    async def delete_node(self, request: web.Request) -> web.Response:
        await self._lab.remove_node(*self._find(request))
        return web.Response(status=204)

    async def node_links(self, request: web.Request) -> web.Response:
        project, node = self._find(request)
        return web.json_response(
            [
                shapes.link_json(project, link)
                for link in project.network.links.values()
                if any(end.node_id == node.node_id for end in link.ends)
            ]
        )

    async def links(self, request: web.Request) -> web.Response:
        project = project_of(self._lab, request)
        links = project.network.links.values() if project.is_opened else []
        return web.json_response([shapes.link_json(project, link) for link in links])

    async def create_link(self, request: web.Request) -> web.Response:
        project = self._opened(request)
        wanted = (await body(request)).get("nodes")
        if not isinstance(wanted, list) or len(wanted) != 2:
            raise Refusal(422, "Field 'nodes': two ends are required")
        first, second = (self._end(project, end) for end in wanted)
        if first.node_id == second.node_id:
            raise Refusal(409, "Cannot connect to itself")
        link = Link(str(uuid.uuid4()), (first, second))
        project.network.links[link.link_id] = link
        self._lab.publish_link("link.created", project, link)
        self._lab.changed()
        return web.json_response(shapes.link_json(project, link), status=201)

    async def link(self, request: web.Request) -> web.Response:
        project, link = self._find_link(request)
        return web.json_response(shapes.link_json(project, link))

    async def update_link(self, request: web.Request) -> web.Response:
        project, link = self._find_link(request)
        data = await body(request)
        if data.get("filters"):
            raise Refusal(409, "The simulated lab has no packet filters")
        is_suspended = data.get("suspend", link.is_suspended)
        if not isinstance(is_suspended, bool):
            raise Refusal(422, "Field 'suspend': true or false is required")
        link.is_suspended = is_suspended
        self._lab.publish_link("link.updated", project, link)
        self._lab.changed()
        return web.json_response(shapes.link_json(project, link))

    async def delete_link(self, request: web.Request) -> web.Response:
        self._lab.remove_link(*self._find_link(request))
        return web.Response(status=204)

    async def no_filters(self, request: web.Request) -> web.Response:
        self._find_link(request)
        return web.json_response([])

    def _one(
        self, action: Callable[[Project, Node], Awaitable[None]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            await action(*self._find(request))
            return web.Response(status=204)

        return handler

    def _all(
        self, action: Callable[[Project, Node], Awaitable[None]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            project = self._opened(request)
            for node in list(project.network.nodes.values()):
                await action(project, node)
            return web.Response(status=204)

        return handler

    async def _stay(self, project: Project, node: Node) -> None:
        """GNS3 accepts to suspend a VPCS and does nothing."""

    async def _add(
        self, project: Project, node_type: NodeType, name: str, x: int, y: int
    ) -> web.Response:
        node = factory.make_node(project.network, node_type, name)
        node.x, node.y = x, y
        node.template_id = shapes.template_of(node_type).template_id
        await self._lab.add_node(project, node)
        return web.json_response(self._json(project, node), status=201)

    @staticmethod
    def _name(data: dict[str, Any]) -> str:
        name = factory.clean_name(text_field(data, "name"))
        if not name:
            raise Refusal(422, "Field 'name': no usable character")
        return name

    @staticmethod
    def _rename(node: Node, name: str) -> None:
        node.name = name
        for host in (node.host, node.saved_host):
            if host is not None:
                host.pcname = name[:12]
        for router in (node.router, node.saved_router):
            if router is not None:
                router.hostname = name

    def _opened(self, request: web.Request) -> Project:
        project = project_of(self._lab, request)
        if not project.is_opened:
            raise Refusal(403, "The project is not opened")
        return project

    def _find(self, request: web.Request) -> tuple[Project, Node]:
        project = self._opened(request)
        node_id = request.match_info["node"]
        node = project.network.nodes.get(node_id)
        if node is None:
            raise Refusal(404, f"Node ID {node_id} doesn't exist")
        return project, node

    def _find_link(self, request: web.Request) -> tuple[Project, Link]:
        project = self._opened(request)
        link_id = request.match_info["link"]
        link = project.network.links.get(link_id)
        if link is None:
            raise Refusal(404, f"Link ID {link_id} doesn't exist")
        return project, link

    @staticmethod
    def _end(project: Project, data: Any) -> LinkEnd:
        if not isinstance(data, dict):
            raise Refusal(422, "Field 'nodes': each end is an object")
        node_id = text_field(data, "node_id")
        node = project.network.nodes.get(node_id)
        if node is None:
            raise Refusal(404, f"Node ID {node_id} doesn't exist")
        adapter = int_field(data, "adapter_number")
        number = int_field(data, "port_number")
        for port in node.ports:
            if (port.adapter, port.number) == (adapter, number):
                if project.network.link_at(node, port) is not None:
                    raise Refusal(409, "Port is already used")
                return LinkEnd(node_id, adapter, number)
        raise Refusal(404, f"Port {adapter}/{number} for {node.name} not found")

    def _json(self, project: Project, node: Node) -> dict[str, Any]:
        return shapes.node_json(project, node, self._lab.config.host)
