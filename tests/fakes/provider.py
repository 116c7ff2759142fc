"""A real HTTP server that speaks OpenAI's chat completions and says what it is told."""

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

TITLE_MARK = "[task:title]"
TITLE = "A scripted title"


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


class Wire:
    """One response being written."""

    def __init__(self, request: web.Request, model: str, number: int) -> None:
        self._request = request
        self._response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream"}
        )
        self._model = model
        self.number = number

    async def open(self) -> None:
        await self._response.prepare(self._request)

    async def send(self, data: bytes) -> None:
        await self._response.write(data)

    async def delta(self, delta: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        await self._chunk({"choices": [choice]})

    async def end(self, reason: str, usage: tuple[int, int] | None) -> None:
        await self.delta({}, reason)
        if usage is not None:
            read, written = usage
            await self._chunk(
                {
                    "choices": [],
                    "usage": {
                        "prompt_tokens": read,
                        "completion_tokens": written,
                        "total_tokens": read + written,
                    },
                }
            )
        await self.send(b"data: [DONE]\n\n")

    async def _chunk(self, fields: dict[str, Any]) -> None:
        head = {
            "id": f"chatcmpl-{self.number}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": self._model,
        }
        await self.send(b"data: %s\n\n" % json.dumps({**head, **fields}).encode())

    def abort(self) -> None:
        """The connection breaks, as when a server dies."""
        if self._request.transport is not None:
            self._request.transport.abort()


Play = Callable[[Wire], Awaitable[None]]


@dataclass(frozen=True)
class Answer:
    """What one request gets: a stream, or a refusal with this status."""

    play: Play | None = None
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] | None = None


def says(
    text: str,
    *,
    pace: float = 0.0,
    usage: tuple[int, int] | None = (10, 5),
    reason: str = "stop",
) -> Answer:
    """This text, word by word, `pace` seconds apart."""

    async def play(wire: Wire) -> None:
        for piece in words(text):
            await wire.delta({"content": piece})
            if pace:
                await asyncio.sleep(pace)
        await wire.end(reason, usage)

    return Answer(play)


def calls(
    *wanted: tuple[str, Mapping[str, Any] | str],
    fragments: int = 3,
    text: str = "",
    ids: Sequence[str] = (),
    usage: tuple[int, int] | None = (10, 5),
    reason: str = "tool_calls",
) -> Answer:
    """These tool calls at once, their arguments in this many fragments."""

    async def play(wire: Wire) -> None:
        for piece in words(text):
            await wire.delta({"content": piece})
        for index, (name, arguments) in enumerate(wanted):
            call_id = ids[index] if ids else f"call_{wire.number}_{index}"
            head = {
                "index": index,
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": ""},
            }
            await wire.delta({"tool_calls": [head]})
            whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
            for part in cut(whole, fragments):
                await wire.delta(
                    {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
                )
        await wire.end(reason, usage)

    return Answer(play)


def fails(
    status: int,
    body: str | dict[str, Any] = "",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A refusal; a dict is sent as JSON."""
    if isinstance(body, dict):
        headers = {"Content-Type": "application/json", **(headers or {})}
        body = json.dumps(body)
    return Answer(None, status, body.encode(), headers)


def raw(chunks: Sequence[bytes]) -> Answer:
    """Exactly these bytes, then the end of the response."""

    async def play(wire: Wire) -> None:
        for chunk in chunks:
            await wire.send(chunk)

    return Answer(play)


def stalls(after: Sequence[str | bytes] = ()) -> Answer:
    """Says this, then nothing more, with the connection open."""

    async def play(wire: Wire) -> None:
        await _pieces(wire, after)
        await asyncio.Event().wait()

    return Answer(play)


def cuts(after: Sequence[str | bytes] = ()) -> Answer:
    """Says this, then the connection breaks."""

    async def play(wire: Wire) -> None:
        await _pieces(wire, after)
        # What was written must leave before the connection does.
        await asyncio.sleep(0.05)
        wire.abort()

    return Answer(play)


async def _pieces(wire: Wire, pieces: Sequence[str | bytes]) -> None:
    for piece in pieces:
        if isinstance(piece, bytes):
            await wire.send(piece)
        else:
            await wire.delta({"content": piece})


def words(text: str) -> list[str]:
    """With their spaces, so that they add up to the text."""
    return [part for part in text.replace(" ", " \0").split("\0") if part]


def cut(text: str, parts: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, parts)))
    return [text[at : at + size] for at in range(0, len(text), size)]


class ScriptedProvider:
    """One answer per request, the last repeats; titles are answered apart."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[Request] = []
        self.title_requests: list[Request] = []
        self.title: str | Answer = TITLE
        self.url = ""
        self.open_count = 0
        self._answers: list[Answer] = list(answers) or [says("Hello from the model.")]
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._end: asyncio.Event | None = None

    def script(self, *answers: Answer) -> None:
        """From the next request on."""
        self._answers = list(answers)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the provider does not start"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"{}")
        seen = Request(request.path, dict(request.headers), body)
        is_title = TITLE_MARK in json.dumps(body.get("messages", [])[:1])
        if is_title:
            self.title_requests.append(seen)
            answer = self.title
            if isinstance(answer, str):
                answer = says(answer, usage=(3, 2))
        else:
            self.requests.append(seen)
            rest = self._answers
            answer = rest.pop(0) if len(rest) > 1 else rest[0]
        if answer.play is None:
            return web.Response(
                status=answer.status, body=answer.body, headers=answer.headers
            )
        wire = Wire(request, str(body.get("model", "")), next(self._numbers))
        self.open_count += 1
        try:
            await wire.open()
            with contextlib.suppress(ConnectionError):
                await answer.play(wire)
        finally:
            self.open_count -= 1
        return wire._response
