"""The running lab: projects, their nodes' consoles, and what is stored of them."""

from __future__ import annotations

import asyncio
import logging
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path

from projects.demolab import generate, shapes, state
from projects.demolab.cli import Cli
from projects.demolab.events import Events
from projects.demolab.faults import FAULTS
from projects.demolab.forwarding import Forwarder
from projects.demolab.generate import Truth
from projects.demolab.ios_cli import IosCli
from projects.demolab.model import Link, Network, Node, NodeType
from projects.demolab.state import Project, State
from projects.demolab.telnet import Console
from projects.demolab.vpcs_cli import VpcsCli

logger = logging.getLogger(__name__)

PROJECT_ID = str(uuid.uuid5(uuid.NAMESPACE_OID, "simulated-lab"))
PROJECT_NAME = "Simulated lab"
PORT_TRIES = 20


@dataclass(frozen=True)
class Config:
    """How to serve a lab; port 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = 0
    username: str = "admin"
    password: str = "admin"
    state_path: Path | None = None
    # Seconds a ping packet takes; a real device takes one.
    pace: float = 0.05
    token_lifetime: float = 24 * 60 * 60


class Lab:
    """Everything behind the API."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.events = Events()
        self.state = State()
        self._consoles: dict[str, Console] = {}
        self._forwarders: dict[str, Forwarder] = {}
        self._is_save_due = False
        self._resetting = asyncio.Lock()
        self._jobs: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Bring up the stored lab, or the default one."""
        stored = state.read(self.config.state_path) if self.config.state_path else None
        if stored is None:
            await self.reset(None, None)
            return
        self.state = stored
        for project in self.state.projects.values():
            for node in project.network.nodes.values():
                await self._open_console(project, node)
        self.changed()

    async def stop(self) -> None:
        """Close the consoles; the nodes stay started in what is stored."""
        for job in list(self._jobs):
            job.cancel()
        for console in self._consoles.values():
            await console.stop()
        self._consoles.clear()
        self._save()

    async def reset(self, fault: str | None, seed: int | None) -> Truth:
        """Replace the simulated lab; raises ValueError for a fault that is unknown."""
        if fault is not None and fault not in (*FAULTS, generate.NO_FAULT):
            raise ValueError(f"There is no fault named {fault}.")
        if seed is None:
            network, truth = generate.default_lab(fault or generate.DEFAULT_FAULT)
        else:
            network, truth = generate.random_lab(seed, fault)
        async with self._resetting:
            await self._replace(network, truth)
        return truth

    async def _replace(self, network: Network, truth: Truth) -> None:
        old = self.state.projects.get(PROJECT_ID)
        if old is not None:
            for node in list(old.network.nodes.values()):
                await self.remove_node(old, node)
        project = old or Project(PROJECT_ID, PROJECT_NAME)
        project.network, project.is_opened = network, True
        self.state.projects[PROJECT_ID] = project
        self.state.truth = truth
        self._forwarders.pop(PROJECT_ID, None)
        for node in network.nodes.values():
            node.template_id = shapes.template_of(node.node_type).template_id
            if node.node_type is not NodeType.SWITCH:
                node.console = self.free_port()
            await self._open_console(project, node)
            self._publish_node("node.created", project, node)
        for link in network.links.values():
            self.publish_link("link.created", project, link)
        action = "project.updated" if old else "project.created"
        self.events.publish(action, shapes.project_json(project))
        self.changed()

    def forwarder(self, project: Project) -> Forwarder:
        found = self._forwarders.get(project.project_id)
        if found is None:
            found = Forwarder(project.network)
            self._forwarders[project.project_id] = found
        return found

    async def start_node(self, project: Project, node: Node) -> None:
        if node.is_started:
            return
        node.boot()
        node.is_started = True
        await self._open_console(project, node)
        self._publish_node("node.updated", project, node)
        self.changed()

    async def stop_node(self, project: Project, node: Node) -> None:
        # As in GNS3, a switch is always on.
        if not node.is_started or node.node_type is NodeType.SWITCH:
            return
        node.is_started = False
        self.forwarder(project).forget(node)
        await self._close_console(node)
        self._publish_node("node.updated", project, node)
        self.changed()

    async def reload_node(self, project: Project, node: Node) -> None:
        if node.is_started:
            await self.stop_node(project, node)
            await self.start_node(project, node)

    async def add_node(self, project: Project, node: Node) -> None:
        if node.node_type is not NodeType.SWITCH:
            node.console = self.free_port()
        self._publish_node("node.created", project, node)
        self.changed()

    async def remove_node(self, project: Project, node: Node) -> None:
        for link in list(project.network.links.values()):
            if any(end.node_id == node.node_id for end in link.ends):
                self.remove_link(project, link)
        await self._close_console(node)
        self.forwarder(project).forget(node)
        project.network.nodes.pop(node.node_id, None)
        self._publish_node("node.deleted", project, node)
        self.changed()

    def remove_link(self, project: Project, link: Link) -> None:
        project.network.links.pop(link.link_id, None)
        self.publish_link("link.deleted", project, link)
        self.changed()

    async def close_project(self, project: Project) -> None:
        for node in list(project.network.nodes.values()):
            await self.stop_node(project, node)
        project.is_opened = False
        self.events.publish("project.closed", shapes.project_json(project))
        self.changed()

    async def delete_project(self, project: Project) -> None:
        for node in list(project.network.nodes.values()):
            await self._close_console(node)
        self.state.projects.pop(project.project_id, None)
        self._forwarders.pop(project.project_id, None)
        self.events.publish("project.deleted", shapes.project_json(project))
        self.changed()

    def changed(self) -> None:
        """Store the lab soon; several changes at once are one write."""
        if self.config.state_path is None or self._is_save_due:
            return
        self._is_save_due = True
        asyncio.get_running_loop().call_soon(self._save)

    def node_changed(self, project: Project, node: Node) -> None:
        self._publish_node("node.updated", project, node)
        self.changed()

    def publish_link(self, action: str, project: Project, link: Link) -> None:
        self.events.publish(action, shapes.link_json(project, link), project.project_id)

    def free_port(self) -> int:
        """A port that is free now; the node keeps it while it is stopped."""
        with socket.socket() as probe:
            probe.bind((self.config.host, 0))
            return int(probe.getsockname()[1])

    def _save(self) -> None:
        self._is_save_due = False
        if self.config.state_path is None:
            return
        try:
            state.write(self.config.state_path, self.state)
        except OSError as exc:
            logger.error("The simulated lab cannot be stored: %s", exc)

    def _publish_node(self, action: str, project: Project, node: Node) -> None:
        event = shapes.node_json(project, node, self.config.host)
        self.events.publish(action, event, project.project_id)

    async def _open_console(self, project: Project, node: Node) -> None:
        if not node.is_started or node.node_type is NodeType.SWITCH:
            return
        console = Console(self._cli(project, node), self.config.pace)
        for _ in range(PORT_TRIES):
            node.console = node.console or self.free_port()
            try:
                await console.start(self.config.host, node.console)
            except OSError:
                # Somebody took the port while the node was stopped.
                node.console = None
                continue
            self._consoles[node.node_id] = console
            return
        raise OSError("No free port for a console was found.")

    async def _close_console(self, node: Node) -> None:
        console = self._consoles.pop(node.node_id, None)
        if console is not None:
            await console.stop()

    def _cli(self, project: Project, node: Node) -> Cli:
        forwarder = self.forwarder(project)
        if node.node_type is NodeType.VPCS:
            return VpcsCli(node, forwarder, self.changed)
        return IosCli(
            node, forwarder, self.changed, lambda: self._reload_soon(project, node)
        )

    def _reload_soon(self, project: Project, node: Node) -> None:
        # From outside the console: it cannot close itself while it runs a command.
        job = asyncio.create_task(self.reload_node(project, node))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
