"""A model provider's server that replays answers byte by byte, and judges requests.

It is as strict as the strictest real one: what any of them refuses, it refuses.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

Body = dict[str, Any]
Step = bytes | float | str


@dataclass
class Answer:
    """What one request gets.

    `steps`: bytes are written, numbers are pauses, "reset" breaks the connection,
    "stall" keeps it open in silence; after the last the response ends properly.
    """

    steps: list[Step] = field(default_factory=list)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    # One write for this many bytes; 0: one write a step.
    cut: int = 0
    demands: list[str] = field(default_factory=list)


def event(chunk: object, newline: str = "\n") -> bytes:
    return f"data: {json.dumps(chunk)}{newline}{newline}".encode()


def text(content: str) -> bytes:
    return event({"choices": [{"index": 0, "delta": {"content": content}}]})


def reason(name: str) -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": name}]})


def says(content: str, **options: Any) -> Answer:
    return Answer([text(content), reason("stop"), b"data: [DONE]\n\n"], **options)


class Replay:
    """Answers in order, the last repeats; `faults` tells what it has refused."""

    def __init__(self) -> None:
        self.url = ""
        self.paths: list[str] = []
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.open_count = 0
        self._answers: list[Answer] = [says("Fine.")]
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def script(self, *answers: Answer) -> None:
        self._answers = list(answers)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30), "the provider does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = "http://{}:{}/v1".format(*runner.addresses[0][:2])
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        if is_title(body):
            return await _play(request, says("A title"))
        answer = self._answers[0]
        self.paths.append(request.path)
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if fault := fault_of(body, answer.demands):
            self.faults.append(fault)
            error = {"message": fault, "type": "invalid_request_error", "code": 400}
            return web.json_response({"error": error}, status=400)
        if len(self._answers) > 1:
            self._answers.pop(0)
        self.open_count += 1
        try:
            return await _play(request, answer)
        finally:
            self.open_count -= 1


def is_title(body: Body) -> bool:
    return "[task:title]" in str(body["messages"][0]["content"])


async def _play(request: web.Request, answer: Answer) -> web.StreamResponse:
    headers = {"Content-Type": "text/event-stream", **answer.headers}
    response = web.StreamResponse(status=answer.status, headers=headers)
    await response.prepare(request)
    for step in answer.steps:
        if isinstance(step, bytes):
            for piece in pieces(step, answer.cut):
                await response.write(piece)
                if answer.cut:
                    # Else the kernel would join the writes.
                    await asyncio.sleep(0)
        elif isinstance(step, float | int):
            await asyncio.sleep(step)
        elif step == "stall":
            await asyncio.Event().wait()
        elif step == "reset":
            # What was written must leave before the connection breaks.
            await asyncio.sleep(0.05)
            assert request.transport is not None
            request.transport.abort()
            break
    with contextlib.suppress(ConnectionError):
        await response.write_eof()
    return response


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    size = size or len(data)
    for at in range(0, len(data), size or 1):
        yield data[at : at + size]


# --- What real providers refuse --------------------------------------------------


def fault_of(body: Body, demands: list[str]) -> str | None:
    """The first reason to refuse the request; None if there is none."""
    for check in (*ALWAYS, *(DEMANDS[name] for name in demands)):
        if fault := check(body):
            return fault
    return None


def _strings(body: Body) -> str | None:
    for message in body["messages"]:
        if not isinstance(message.get("content"), str):
            return "invalid type: sequence or null, expected a string"
    return None


def _no_blank_turn(body: Body) -> str | None:
    for message in body["messages"]:
        is_blank = not message["content"] and not message.get("tool_calls")
        if message["role"] in ("assistant", "user") and is_blank:
            return "message must have either content or tool_calls, but not none"
    return None


def _closed_calls(body: Body) -> str | None:
    """Each call has one result, at once behind it; each result its call."""
    open_ids: set[str] = set()
    seen: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                return "role 'tool' must follow a message with 'tool_calls'"
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            return f"tool_calls without response messages: {sorted(open_ids)}"
        for call in message.get("tool_calls", []):
            if not call["id"] or call["id"] in seen:
                return f"duplicate or missing tool call id: {call['id']!r}"
            seen.add(call["id"])
            open_ids.add(call["id"])
    return f"tool_calls without response messages: {open_ids}" if open_ids else None


def _object_arguments(body: Body) -> str | None:
    for call in calls_of(body):
        try:
            if isinstance(json.loads(call["function"]["arguments"]), dict):
                continue
        except ValueError:
            pass
        return "function.arguments must be a JSON object in a string"
    return None


def _known_roles(body: Body) -> str | None:
    roles = [message["role"] for message in body["messages"]]
    if roles[:1] != ["system"] or "system" in roles[1:] or "user" not in roles:
        return "one system message first, and a user query somewhere"
    return None


def _reasoning(body: Body) -> str | None:
    for message in body["messages"]:
        if message.get("tool_calls") and not message.get("reasoning_content"):
            return "The reasoning_content in the thinking mode must be passed back."
    return None


def _no_reasoning(body: Body) -> str | None:
    if any("reasoning_content" in message for message in body["messages"]):
        return "reasoning_content is not allowed in the input messages"
    return None


def _signature(body: Body) -> str | None:
    for call in calls_of(body):
        extra = call.get("extra_content", {}).get("google", {})
        if extra.get("thought_signature") != "c2lnbmVk":
            return "Function call is missing a thought_signature"
    return None


def _inner_signature(body: Body) -> str | None:
    for call in calls_of(body):
        if call["function"].get("thought_signature") != "c2lnbmVk":
            return "Function call is missing a thought_signature"
    return None


def _without(name: str) -> Callable[[Body], str | None]:
    def check(body: Body) -> str | None:
        return f"Unknown parameter: '{name}'" if name in body else None

    return check


def calls_of(body: Body) -> Iterator[Body]:
    for message in body["messages"]:
        yield from message.get("tool_calls", [])


ALWAYS = (_strings, _no_blank_turn, _closed_calls, _object_arguments, _known_roles)
DEMANDS: dict[str, Callable[[Body], str | None]] = {
    "reasoning_content": _reasoning,
    "no reasoning_content": _no_reasoning,
    "thought_signature": _signature,
    "thought_signature in function": _inner_signature,
    "no stream_options": _without("stream_options"),
    "no max_tokens": _without("max_tokens"),
    "no temperature": _without("temperature"),
}
