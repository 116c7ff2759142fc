"""A real HTTP server that answers as Tavily's search API does."""

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

KEY = "tvly-key-of-the-tests-0123456789"


@dataclass(frozen=True)
class Asked:
    """One search as it came in."""

    key: str
    body: dict[str, Any]


@dataclass
class FakeTavily:
    """Answers with `results`, or with `status`; `is_silent`: with nothing at all."""

    results: list[Mapping[str, Any]] = field(default_factory=list)
    status: int = 200
    raw: bytes | None = None
    is_silent: bool = False
    searches: list[Asked] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._end: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the fake does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Once; a test may do it before its fixture does."""
        if self._end is None or self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        application = web.Application()
        application.router.add_post("/search", self._answer)
        runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        body = json.loads(await request.read())
        self.searches.append(Asked(key, body))
        if self.is_silent:
            await asyncio.Event().wait()
        if key != KEY:
            return web.json_response(
                {"detail": {"error": "Unauthorized: missing or invalid API key."}},
                status=401,
            )
        if self.raw is not None:
            return web.Response(body=self.raw, content_type="application/json")
        if self.status != 200:
            return web.json_response(
                {"detail": {"error": "of the provider"}}, status=self.status
            )
        found = self.results[: body["max_results"]]
        return web.json_response({"query": body["query"], "results": found})


def page(url: str, **fields: Any) -> dict[str, Any]:
    """One result, with its whole text."""
    return {
        "url": url,
        "title": f"Page of {url}",
        "content": "The part that fits.",
        "raw_content": "# Heading\nThe whole text, with the part that fits.",
        "score": 0.9,
        **fields,
    }
