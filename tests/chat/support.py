"""Rows, followers and waiting, for the tests of chat."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from chat.agent import runner
from chat.agent.tools import available
from chat.agent.tools.base import Tool
from chat.events.address import RunAddress
from chat.events.log import read_log
from chat.events.reader import Batch, follow
from chat.models import ChatSession, Message, Run, Worker
from chat.models.run import Status
from copilot_site.lib.orm import in_orm_thread
from projects.models import Project

DEADLINE = 20.0

db = in_orm_thread


def use_tools(monkeypatch: pytest.MonkeyPatch, tools: dict[str, Tool[Any]]) -> None:
    """In place of the product's; offered whatever the profile names."""
    monkeypatch.setattr(runner, "TOOLS", tools)
    monkeypatch.setattr(runner, "offered", lambda names, kit: available(tools, kit))


async def until(is_true: Callable[[], Any], what: str) -> None:
    """Poll (in a thread: it may read the database) until true."""
    deadline = time.monotonic() + DEADLINE
    while not await db(is_true)():
        assert time.monotonic() < deadline, f"never: {what}"
        await asyncio.sleep(0.01)


def make_session(user: User, project: Project | None, **fields: Any) -> ChatSession:
    return ChatSession.objects.create(user=user, project=project, **fields)


def make_run(
    session: ChatSession,
    *,
    status: Status = Status.QUEUED,
    text: str = "Why can't PC1 reach PC2?",
    **fields: Any,
) -> Run:
    """A round with its question."""
    number = fields.pop("round", session.runs.count() + 1)
    run = Run.objects.create(session=session, round=number, status=status, **fields)
    Message.objects.create(
        session=session,
        run=run,
        round=number,
        sequence=1,
        role=Message.Role.USER,
        content=text,
    )
    return run


def make_worker(name: str = "here") -> Worker:
    return Worker.objects.create(hostname=name, pid=1)


def claimed(run: Run, worker: Worker | None = None) -> Run:
    """Running, with all that a worker fetches with it."""
    assert run.claim(worker or make_worker())
    return loaded(run)


def loaded(run: Run) -> Run:
    related = ("session__user", "session__project__server", "llm_config", "worker")
    return Run.objects.select_related(*related).get(pk=run.pk)


async def events_of(address: RunAddress) -> list[dict[str, Any]]:
    """The whole log."""
    return [orjson.loads(entry.data) for entry in await read_log(address, 0)]


def logged(run: Run) -> list[dict[str, Any]]:
    """The same, from a test without a loop."""
    return async_to_sync(events_of)(RunAddress.of(run))


async def followed(
    address: RunAddress, after: int = 0, *, pause: float = 0.0
) -> list[dict[str, Any]]:
    """All events from a cursor until `done`."""
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(DEADLINE):
        async for item in follow(address, after=after):
            if isinstance(item, Batch):
                seen += [orjson.loads(entry.data) for entry in item.entries]
                if pause:
                    await asyncio.sleep(pause)
    return seen


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "content")
