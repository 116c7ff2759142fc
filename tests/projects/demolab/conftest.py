"""A simulated lab on free ports, and shortcuts to talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from projects.demolab.cli import Ask, Cli, Paged
from projects.demolab.forwarding import Forwarder
from projects.demolab.generate import NO_FAULT, default_lab
from projects.demolab.ios_cli import IosCli
from projects.demolab.lab import PROJECT_ID, Config
from projects.demolab.model import Network, NodeType
from projects.demolab.server import RunningLab, serve
from projects.demolab.vpcs_cli import VpcsCli

DEADLINE = 10.0


@dataclass
class Devices:
    """Runs command lines on the devices of a network, without sockets."""

    network: Network

    def __post_init__(self) -> None:
        self.forwarder = Forwarder(self.network)
        self.reloaded: list[str] = []
        self._clis: dict[str, Cli] = {}

    def cli(self, name: str) -> Cli:
        if name not in self._clis:
            node = self.network.named(name)
            if node.node_type is NodeType.VPCS:
                self._clis[name] = VpcsCli(node, self.forwarder, lambda: None)
            else:
                self._clis[name] = IosCli(
                    node,
                    self.forwarder,
                    lambda: None,
                    lambda: self.reloaded.append(name),
                )
        return self._clis[name]

    def run(self, name: str, *lines: str, answer: str = "") -> str:
        """The text that the last of the lines prints."""
        text = ""
        for line in lines:
            text = self._run(self.cli(name), line, answer)
        return text

    def _run(self, cli: Cli, line: str, answer: str) -> str:
        printed = []
        steps = cli.run(line)
        reply = ""
        try:
            step = next(steps)
            while True:
                reply = ""
                match step:
                    case str():
                        printed.append(step)
                    case Paged():
                        printed.append(step.text)
                    case Ask():
                        printed.append(step.question)
                        reply = answer
                step = steps.send(reply)
        except StopIteration:
            return "".join(printed)


@pytest.fixture
def devices() -> Devices:
    """The default lab without a fault."""
    return Devices(default_lab(NO_FAULT)[0])


@pytest.fixture
def devices_of() -> Callable[[Network], Devices]:
    return Devices


class Client:
    """Talks to a running lab as our GNS3 client and consoles do."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.project = f"/v3/projects/{PROJECT_ID}"

    async def node(self, name: str) -> dict[str, Any]:
        nodes = (await self.http.get(f"{self.project}/nodes")).json()
        return next(node for node in nodes if node["name"] == name)

    async def post(self, path: str, data: Any = None, status: int = 201) -> Any:
        answer = await self.http.post(path, json=data if data is not None else {})
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def telnet(self, name: str) -> Telnet:
        node = await self.node(name)
        return await Telnet.connect(node["console"])


class Telnet:
    """A raw telnet client that keeps all it has read."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader, self.writer = reader, writer
        self.raw = b""

    @classmethod
    async def connect(cls, port: int) -> Telnet:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def until(self, end: bytes) -> str:
        """Read until this text; what was read up to there."""
        async with asyncio.timeout(DEADLINE):
            while end not in self.raw:
                data = await self.reader.read(4096)
                assert data, f"closed, after {self.raw!r}"
                self.raw += data
        found, _, self.raw = self.raw.partition(end)
        return (found + end).decode(errors="replace")

    async def command(self, line: str, prompt: bytes) -> str:
        self.writer.write(line.encode() + b"\r\n")
        return await self.until(prompt)

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def lab() -> AsyncIterator[RunningLab]:
    running = await serve(Config(pace=0.001))
    yield running
    await running.stop()


async def log_in(url: str) -> httpx.AsyncClient:
    http = httpx.AsyncClient(base_url=url, timeout=DEADLINE)
    login = {"username": "admin", "password": "admin"}
    answer = await http.post("/v3/access/users/authenticate", json=login)
    http.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return http


@pytest.fixture
def client_of() -> Callable[[RunningLab], Any]:
    async def make(running: RunningLab) -> Client:
        return Client(await log_in(running.url))

    return make


@pytest.fixture
async def client(lab: RunningLab) -> AsyncIterator[Client]:
    http = await log_in(lab.url)
    yield Client(http)
    await http.aclose()
