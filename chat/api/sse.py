"""Server-sent events: the reader's items as frames; a stream holds no thread."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse

from chat.events.address import Cursor, RunAddress
from chat.events.reader import Heartbeat, follow, is_waiting
from chat.models import Run


def unread_after(request: HttpRequest, run: Run) -> int | None:
    """The event's number after which the client reads on; None if it has read all."""
    text = request.headers.get("Last-Event-ID") or request.GET.get("after")
    cursor = Cursor.parse(text)
    after = cursor.within(run.round) if cursor else 0
    return None if run.is_finished and after >= run.saved_seq else after


async def frames(
    address: RunAddress,
    *,
    after: int,
    is_still_valid: Callable[[], Awaitable[bool]],
    until_waiting: bool = False,
) -> AsyncIterator[bytes]:
    """Frames of a run after the given number, until `done` or this connection's end.

    With `until_waiting` they also end, by a `done` without a number, where the run
    waits for a person: who asks must not wait for hours.
    """
    release_thread()
    sent = 0
    heartbeat = orjson.dumps({"type": "heartbeat", "session_id": address.session_id})
    async with contextlib.aclosing(follow(address, after=after)) as items:
        async for item in items:
            pauses = until_waiting and await is_waiting(address, item)
            if isinstance(item, Heartbeat):
                if pauses:
                    yield _pause(address)
                    return
                if not await is_still_valid():
                    return
                yield b"data: %s\n\n" % heartbeat
                continue
            frame = b"".join(
                b"id: %d.%d\ndata: %s\n\n" % (address.round, entry.seq, entry.data)
                for entry in item.entries
            )
            yield frame
            sent += len(frame)
            if pauses:
                yield _pause(address)
            if item.is_last or pauses:
                return
            if sent > settings.CONNECTION_BYTES:
                # Bounds what a stalled reader can pile up; it comes back by cursor.
                yield b": reconnect with your last id\nretry: 100\n\n"
                return


def _pause(address: RunAddress) -> bytes:
    done = {"type": "done", **address.head(), "status": "waiting_approval"}
    return b"data: %s\n\n" % orjson.dumps({**done, "reason": "approval"})


async def sse_response(body: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Holds no connection to the database, and no thread once it streams."""
    return StreamingHttpResponse(
        body,
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


def release_thread() -> None:
    """First thing in the body of a stream."""
    # Django binds a thread to each request; a stream would pin it until its end.
    # To be called when the body is read: until then middleware takes a new one.
    # asgiref offers no public way to give it back (checked by a test).
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is not None:
        executor = SyncToAsync.context_to_thread_executor.pop(context, None)
        if executor is not None:
            executor.shutdown(wait=False)
