"""The part of GNS3's v3 API that the simulated lab offers, except nodes and links."""

from __future__ import annotations

import asyncio
import hmac
import json
import uuid
from dataclasses import asdict

from aiohttp import web

from projects.demolab import shapes
from projects.demolab.api_nodes import ProjectApi, project_of
from projects.demolab.errors import Refusal, body, guard, text_field
from projects.demolab.lab import Lab
from projects.demolab.state import Project
from projects.demolab.tokens import Tokens

VERSION = "3.0.6"
PING_INTERVAL = 5.0
USER_ID = str(uuid.uuid5(uuid.NAMESPACE_OID, "simulated-user"))
PING = {
    "action": "ping",
    "event": {
        "compute_id": "local",
        "cpu_usage_percent": 0.0,
        "memory_usage_percent": 0.0,
        "disk_usage_percent": 0.0,
    },
}


def application(lab: Lab) -> web.Application:
    tokens = Tokens(lab.config.token_lifetime)
    app = web.Application(middlewares=[guard(tokens)], client_max_size=1_000_000)
    api = Api(lab, tokens)
    app.add_routes(
        [
            web.get("/v3/version", api.version),
            web.post("/v3/access/users/authenticate", api.authenticate),
            web.post("/v3/access/users/login", api.login),
            web.get("/v3/access/users/me", api.me),
            web.get("/v3/statistics", api.statistics),
            web.get("/v3/computes", api.empty_list),
            web.get("/v3/templates", api.templates),
            web.get("/v3/notifications", api.notifications),
            web.get("/v3/simulator", api.simulator),
            web.post("/v3/simulator/reset", api.reset),
            web.get("/v3/projects", api.projects),
            web.post("/v3/projects", api.create_project),
            web.get("/v3/projects/{project}", api.project),
            web.put("/v3/projects/{project}", api.rename_project),
            web.delete("/v3/projects/{project}", api.delete_project),
            web.post("/v3/projects/{project}/open", api.open_project),
            web.post("/v3/projects/{project}/close", api.close_project),
            web.get("/v3/projects/{project}/notifications", api.notifications),
            web.get("/v3/projects/{project}/stats", api.project_statistics),
            web.get("/v3/projects/{project}/drawings", api.empty_list),
            web.get("/v3/projects/{project}/snapshots", api.empty_list),
        ]
    )
    ProjectApi(lab).add_to(app)
    return app


class Api:
    """Server, access and projects."""

    def __init__(self, lab: Lab, tokens: Tokens) -> None:
        self._lab = lab
        self._tokens = tokens

    async def version(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "controller_host": self._lab.config.host,
                "version": VERSION,
                "local": False,
                "simulated": True,
            }
        )

    async def authenticate(self, request: web.Request) -> web.Response:
        data = await body(request)
        return self._log_in(text_field(data, "username"), text_field(data, "password"))

    async def login(self, request: web.Request) -> web.Response:
        form = await request.post()
        return self._log_in(
            str(form.get("username", "")), str(form.get("password", ""))
        )

    async def me(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "user_id": USER_ID,
                "username": self._lab.config.username,
                "is_active": True,
                "email": None,
                "full_name": "User of the simulated lab",
                "last_login": None,
                "is_superadmin": True,
            }
        )

    async def statistics(self, request: web.Request) -> web.Response:
        return web.json_response(
            [{"compute_id": "local", "compute_name": "Simulated lab", "statistics": {}}]
        )

    async def empty_list(self, request: web.Request) -> web.Response:
        return web.json_response([])

    async def templates(self, request: web.Request) -> web.Response:
        return web.json_response(
            [shapes.template_json(template) for template in shapes.TEMPLATES]
        )

    async def simulator(self, request: web.Request) -> web.Response:
        truth = self._lab.state.truth
        return web.json_response(asdict(truth) if truth else {"fault": None})

    async def reset(self, request: web.Request) -> web.Response:
        data = await body(request)
        fault, seed = data.get("fault"), data.get("seed")
        if not isinstance(fault, str | None) or not isinstance(seed, int | None):
            raise Refusal(422, "fault is a name or null, seed a whole number or null")
        try:
            truth = await self._lab.reset(fault, seed)
        except ValueError as exc:
            raise Refusal(422, str(exc)) from exc
        return web.json_response(asdict(truth))

    async def projects(self, request: web.Request) -> web.Response:
        return web.json_response(
            [shapes.project_json(p) for p in self._lab.state.projects.values()]
        )

    async def create_project(self, request: web.Request) -> web.Response:
        name = text_field(await body(request), "name")
        self._refuse_taken(name)
        project = Project(str(uuid.uuid4()), name)
        self._lab.state.projects[project.project_id] = project
        self._publish("project.created", project)
        return web.json_response(shapes.project_json(project), status=201)

    async def project(self, request: web.Request) -> web.Response:
        return web.json_response(shapes.project_json(project_of(self._lab, request)))

    async def rename_project(self, request: web.Request) -> web.Response:
        project = project_of(self._lab, request)
        name = text_field(await body(request), "name", project.name)
        if name != project.name:
            self._refuse_taken(name)
            project.name = name
            self._publish("project.updated", project)
        return web.json_response(shapes.project_json(project))

    async def delete_project(self, request: web.Request) -> web.Response:
        await self._lab.delete_project(project_of(self._lab, request))
        return web.Response(status=204)

    async def open_project(self, request: web.Request) -> web.Response:
        project = project_of(self._lab, request)
        if not project.is_opened:
            project.is_opened = True
            self._publish("project.opened", project)
        return web.json_response(shapes.project_json(project), status=201)

    async def close_project(self, request: web.Request) -> web.Response:
        project = project_of(self._lab, request)
        if project.is_opened:
            await self._lab.close_project(project)
        return web.Response(status=204)

    async def project_statistics(self, request: web.Request) -> web.Response:
        network = project_of(self._lab, request).network
        counts = {"nodes": len(network.nodes), "links": len(network.links)}
        return web.json_response({**counts, "drawings": 0, "snapshots": 0})

    async def notifications(self, request: web.Request) -> web.StreamResponse:
        """One JSON object a line: a ping first, then events, a ping when quiet."""
        project_id = ""
        if "project" in request.match_info:
            project_id = project_of(self._lab, request).project_id
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with self._lab.events.listen(project_id) as queue:
            event = PING
            try:
                while True:
                    await response.write(json.dumps(event).encode() + b"\n")
                    try:
                        event = await asyncio.wait_for(queue.get(), PING_INTERVAL)
                    except TimeoutError:
                        event = PING
            except ConnectionError:
                return response

    def _log_in(self, username: str, password: str) -> web.Response:
        config = self._lab.config
        given = f"{username}\0{password}".encode()
        known = f"{config.username}\0{config.password}".encode()
        if not hmac.compare_digest(given, known):
            raise Refusal(401, "Authentication was unsuccessful.")
        token = self._tokens.issue(username)
        return web.json_response({"access_token": token, "token_type": "bearer"})

    def _refuse_taken(self, name: str) -> None:
        if any(project.name == name for project in self._lab.state.projects.values()):
            raise Refusal(409, f'Project "{name}" already exists')

    def _publish(self, action: str, project: Project) -> None:
        self._lab.events.publish(action, shapes.project_json(project))
        self._lab.changed()
