"""Clients of a running stack: what a browser, curl or a socket would see."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.stack import Stack

Event = dict[str, Any]
Until = Callable[[Event], bool]
SECONDS = 90.0


async def ask(stack: Stack, message: str, **fields: Any) -> list[Event]:
    """POST and listen until `done`, as curl -N does."""
    path = f"{stack.url}{stack.chat_path}/stream"
    async with (
        asyncio.timeout(SECONDS),
        httpx.AsyncClient(headers=stack.headers(), timeout=SECONDS) as client,
        client.stream("POST", path, json={"message": message, **fields}) as answer,
    ):
        if answer.status_code != 200:
            await answer.aread()
            raise AssertionError(f"{answer.status_code} {answer.text}")
        return [event async for event in _events(answer)]


async def stream(
    stack: Stack, session_id: str, *, after: str = ""
) -> AsyncGenerator[Event]:
    """One SSE connection, from a cursor on."""
    path = f"{stack.url}{stack.chat_path}/sessions/{session_id}/events"
    headers = {**stack.headers(), **({"Last-Event-ID": after} if after else {})}
    async with (
        httpx.AsyncClient(headers=headers, timeout=SECONDS) as client,
        client.stream("GET", path) as answer,
    ):
        if answer.status_code == 204:
            return
        assert answer.status_code == 200, await answer.aread()
        async for event in _events(answer):
            yield event


async def socket(
    stack: Stack, session_id: str, *, after: str = ""
) -> AsyncGenerator[Event]:
    """One WebSocket connection, from a cursor on."""
    path = f"/ws/v3/projects/{stack.project_id}/chat/sessions/{session_id}"
    url = f"{stack.ws_url}{path}?after={after}"
    async with connect(
        url, additional_headers=stack.headers(), max_size=2**24, proxy=None
    ) as channel:
        async for frame in channel:
            event: Event = json.loads(frame)
            yield event


Transport = Callable[..., AsyncGenerator[Event]]
TRANSPORTS: dict[str, Transport] = {"sse": stream, "websocket": socket}


async def follow(
    stack: Stack,
    session_id: str,
    *,
    transport: Transport = stream,
    after: str = "",
    cuts: Iterable[int] = (),
    until: Until | None = None,
) -> list[Event]:
    """Numbered events until `done`, however often the connection ends.

    `cuts`: the client hangs up after so many events on each connection.
    """
    events: list[Event] = []
    limits = iter(cuts)
    async with asyncio.timeout(SECONDS):
        while True:
            limit = next(limits, None)
            seen = 0
            with contextlib.suppress(httpx.TransportError, ConnectionClosed, OSError):
                async with contextlib.aclosing(
                    transport(stack, session_id, after=after)
                ) as items:
                    async for event in items:
                        if "seq" not in event:
                            continue
                        events.append(event)
                        after = f"{event['round']}.{event['seq']}"
                        if event["type"] == "done" or (until and until(event)):
                            return events
                        seen += 1
                        if limit is not None and seen >= limit:
                            break
            # As a browser does, only sooner.
            await asyncio.sleep(0.1)


def words(count: int) -> Until:
    """True when the answer has so many words; one event may hold several."""
    pieces: list[str] = []

    def reached(event: Event) -> bool:
        if event["type"] == "content":
            pieces.append(event["content"])
        return len("".join(pieces).split()) >= count

    return reached


def is_type(*types: str) -> Until:
    return lambda event: event["type"] in types


def numbers(events: Iterable[Event]) -> list[int]:
    return [event["seq"] for event in events if "seq" in event]


def texts(events: Iterable[Event]) -> dict[str, str]:
    """What a follower has put together: message id → text, without voided ones."""
    assembled: defaultdict[str, str] = defaultdict(str)
    for event in events:
        match event["type"]:
            case "content":
                assembled[event["message_id"]] += event["content"]
            case "attempt":
                for message_id in event["discarded"]:
                    assembled.pop(message_id, None)
            case "snapshot":
                assembled.clear()
                for message in event["messages"]:
                    if message["role"] == "assistant" and message["content"]:
                        assembled[message["id"]] = message["content"]
    return dict(assembled)


def stored_texts(history: Iterable[Event]) -> dict[str, str]:
    """The same from history."""
    return {
        message["id"]: message["content"]
        for message in history
        if message["role"] == "assistant" and message["content"]
    }


async def _events(answer: httpx.Response) -> AsyncGenerator[Event]:
    cursor = ""
    async for line in answer.aiter_lines():
        if line.startswith("id: "):
            cursor = line[4:]
        elif line.startswith("data: "):
            event: Event = json.loads(line[6:])
            if "seq" in event:
                assert cursor == f"{event['round']}.{event['seq']}"
            yield event
