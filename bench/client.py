"""The load generator: many streams in one process, each token timed on arrival."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.stack import Stack

Event = dict[str, Any]


@dataclass
class Heard:
    """What one stream brought: for each token its way in seconds, and when it came."""

    delays: list[float] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, event: Event) -> None:
        now = time.monotonic()
        self.events.append(event)
        if event["type"] == "content":
            for word in event["content"].split():
                self.delays.append(now - int(word) / 1e9)
                self.arrivals.append(now)
        self.news.set()

    async def until(self, is_so: Callable[["Heard"], bool]) -> None:
        """Wait until that holds of what has come."""
        async with asyncio.timeout(120):
            while not is_so(self):
                self.news.clear()
                await self.news.wait()


class Client:
    """Talks to a stack as the user demo."""

    def __init__(self, stack: Stack, session: aiohttp.ClientSession) -> None:
        self._stack = stack
        self._session = session
        self._url = stack.url + stack.chat_path

    async def ask(self, tokens: int) -> Heard:
        """POST and listen to the end."""
        heard = Heard()
        body = {"message": str(tokens)}
        async with self._session.post(f"{self._url}/stream", json=body) as response:
            await _listen(response, heard)
        return heard

    async def start(self, tokens: int) -> str:
        """Ask without listening; the session's id."""
        async with self._session.post(
            f"{self._url}/stream",
            json={"message": str(tokens)},
            headers={"Prefer": "respond-async"},
        ) as response:
            session_id: str = (await response.json())["session_id"]
        return session_id

    async def follow(self, session_id: str, heard: Heard) -> None:
        url = f"{self._url}/sessions/{session_id}/events"
        async with self._session.get(url) as response:
            await _listen(response, heard)

    async def stop(self, session_id: str) -> None:
        url = f"{self._url}/sessions/{session_id}/stop"
        async with self._session.post(url) as response:
            await response.read()


@asynccontextmanager
async def client_of(stack: Stack) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(
        headers=stack.headers(),
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=300),
        read_bufsize=2**20,
    ) as session:
        yield Client(stack, session)


async def _listen(response: aiohttp.ClientResponse, heard: Heard) -> None:
    response.raise_for_status()
    async for line in response.content:
        if line.startswith(b"data: "):
            heard.take(json.loads(line[6:]))
