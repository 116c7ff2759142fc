"""A user's own channel over SSE: titles, started and finished runs of all sessions."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
from channels.layers import get_channel_layer
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from chat.api.sse import release_thread, sse_response
from chat.events.address import user_group
from copilot_site.api import api_view
from copilot_site.authentication import Identity
from copilot_site.lib.orm import in_orm_thread


@api_view("GET")
async def user_events(request: HttpRequest, identity: Identity) -> HttpResponseBase:
    """News of all your sessions, from now on; nothing is replayed."""
    return await sse_response(
        _frames(identity.user.pk, is_still_valid=in_orm_thread(identity.is_still_valid))
    )


async def _frames(
    user_id: int, *, is_still_valid: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    release_thread()
    layer = get_channel_layer()
    channel = await layer.new_channel("news.")
    group = user_group(user_id)
    await layer.group_add(group, channel)
    try:
        yield _frame({"type": "ready"})
        while True:
            event: dict[str, object] = {"type": "heartbeat"}
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(settings.HEARTBEAT_SECONDS):
                    event = (await layer.receive(channel))["event"]
            if not await is_still_valid():
                return
            yield _frame(event)
    finally:
        await layer.group_discard(group, channel)


def _frame(event: dict[str, object]) -> bytes:
    return b"data: %s\n\n" % orjson.dumps(event)
