"""Server-sent events with names: how a run looks to clients of `/api/chat`."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
from django.conf import settings

from chat.api.sse import release_thread
from chat.events.address import RunAddress
from chat.events.log import Entry
from chat.events.reader import Heartbeat, follow

# By our type: the name under which these clients know it. Others are not for them.
_NAMES = {
    b"stage": b"stage",
    b"plan": b"plan",
    b"step": b"step",
    b"citations": b"citations",
    b"content": b"token",
    b"error": b"error",
    b"stopped": b"stopped",
    b"snapshot": b"snapshot",
    b"attempt": b"attempt",
    b"done": b"done",
}
_GROUNDS = ("supported", "confidence", "message_id")
_HEAD = b'{"type":"'


async def named_frames(
    address: RunAddress,
    *,
    after: int,
    is_still_valid: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    """Frames of a run after the given number, until `done` or this connection's end."""
    release_thread()
    sent = 0
    async with contextlib.aclosing(follow(address, after=after)) as items:
        async for item in items:
            if isinstance(item, Heartbeat):
                if not await is_still_valid():
                    return
                yield b": heartbeat\n\n"
                continue
            frame = b"".join(_frame(address.round, entry) for entry in item.entries)
            if frame:
                yield frame
                sent += len(frame)
            if item.is_last:
                return
            if sent > settings.CONNECTION_BYTES:
                # Bounds what a stalled reader can pile up; it comes back by cursor.
                yield b": reconnect with your last id\nretry: 100\n\n"
                return


def _frame(round: int, entry: Entry) -> bytes:
    """Empty for what these clients do not know."""
    kind = entry.data[len(_HEAD) : entry.data.index(b'"', len(_HEAD))]
    name = _NAMES.get(kind)
    # The first attempt discards nothing.
    if name is None or (kind == b"attempt" and entry.attempt <= 1):
        return b""
    data = entry.data
    if kind == b"content":
        data = _HEAD + name + data[len(_HEAD) + len(kind) :]
    elif kind == b"done":
        done = orjson.loads(data)
        known: dict[str, Any] = {**dict.fromkeys(_GROUNDS), "citations": []}
        data = orjson.dumps({**known, **done})
    return b"id: %d.%d\nevent: %s\ndata: %s\n\n" % (round, entry.seq, name, data)
