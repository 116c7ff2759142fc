"""The user's own channel over SSE."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django.fixtures import Settings

from chat.ending import end_unowned_run
from chat.models import ChatSession, Run
from chat.models.run import Status
from chat.news import tell_user
from projects.models import Project
from tests.chat.api.conftest import bearer
from tests.chat.support import DEADLINE, db, make_run, make_session
from tests.conftest import Valkey

pytestmark = pytest.mark.needs("valkey")


async def opened(user: User) -> Any:
    headers = await db(bearer)(user)
    response = await AsyncClient().get("/v3/events", headers=headers)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    return response


async def news(response: Any) -> AsyncIterator[dict[str, Any]]:
    async with asyncio.timeout(DEADLINE):
        async for frame in response:
            assert frame.startswith(b"data: ")
            assert frame.endswith(b"\n\n")
            yield json.loads(frame[6:])


async def after(items: AsyncIterator[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The next of this type; heartbeats may lie between."""
    async for item in items:
        if item["type"] == kind:
            return item
    raise AssertionError(f"ended without {kind}")


async def test_the_end_of_a_run_is_told_to_its_owner_only(
    valkey: Valkey, lab: Project, alice: User, bob: User
) -> None:
    his = news(await opened(bob))
    hers = news(await opened(alice))
    assert (await anext(hers))["type"] == "ready"
    assert (await anext(his))["type"] == "ready"
    session: ChatSession = await db(make_session)(alice, lab)
    run: Run = await db(make_run)(session)

    assert await db(end_unowned_run)(run, [Status.QUEUED], reason="user")

    told = await after(hers, "run_finished")
    assert told == {
        "type": "run_finished",
        "session_id": session.thread_id,
        "run_id": str(run.pk),
        "round": 1,
        "status": "stopped",
        "reason": "user",
    }
    await db(tell_user)(bob.pk, {"type": "title", "title": "his"})
    assert (await after(his, "title"))["title"] == "his"


async def test_a_heartbeat_keeps_the_line_open(
    valkey: Valkey, alice: User, settings: Settings
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    items = news(await opened(alice))

    kinds = [(await anext(items))["type"] for _ in range(3)]

    assert kinds == ["ready", "heartbeat", "heartbeat"]


async def test_the_stream_of_somebody_made_inactive_ends(
    valkey: Valkey, alice: User, settings: Settings
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    items = news(await opened(alice))
    await anext(items)

    await db(lambda: User.objects.filter(pk=alice.pk).update(is_active=False))()

    assert [item async for item in items if item["type"] != "heartbeat"] == []


async def test_nobody_else_may_listen(valkey: Valkey, alice: User) -> None:
    response = await AsyncClient().get("/v3/events")

    assert response.status_code == 401
    assert (await AsyncClient().post("/v3/events")).status_code == 405
