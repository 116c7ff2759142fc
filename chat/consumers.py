"""Sockets: authorise, replay, forward. What a client sends are commands, no more."""

import asyncio
import contextlib
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from chat.access import run_of_approval, session_for
from chat.approvals import decide
from chat.decision_form import DecisionSerializer, as_decision
from chat.events.address import Cursor, RunAddress, user_group
from chat.events.reader import Heartbeat, follow
from chat.models import ChatSession, Run
from chat.runs import start_run, stop_session
from chat.sockets import (
    CLOSE_NOT_AUTHENTICATED,
    CLOSE_NOT_FOUND,
    CLOSE_RECONNECT,
    IdentifiedConsumer,
)
from copilot_site.authentication import Identity, place_of_scope
from copilot_site.bearer import in_waiting_thread
from copilot_site.lib.orm import in_orm_thread
from projects.access import find_project, secrets_for, token_for
from projects.models import Project, Role
from projects.sync import is_fresh, refresh_project


class SessionConsumer(IdentifiedConsumer):
    """One session: its runs one after another, from a cursor on."""

    session: ChatSession
    project: Project
    _forwarding: asyncio.Task[None] | None = None
    _is_forwarding_run = False

    async def begin(self) -> None:
        assert self.identity is not None
        path = self.scope["url_route"]["kwargs"]
        user = self.identity.user
        self.project = await find_project(
            self.identity,
            path["project_id"],
            role=Role.VIEWER,
            server=place_of_scope(self.scope).server,
        )
        self.session = await in_orm_thread(session_for)(
            user, self.project, path["session_id"]
        )
        query = parse_qs(self.scope.get("query_string", b"").decode("latin1"))
        cursor = Cursor.parse(query.get("after", [""])[0]) or Cursor(0, 0)
        self._news = asyncio.Event()
        await self.channel_layer.group_add(user_group(user.pk), self.channel_name)
        self._forwarding = asyncio.create_task(self._forward(cursor))

    async def user_event(self, message: dict[str, Any]) -> None:
        """From the user's own channel: a new run of this session, or a late title."""
        event = message["event"]
        if event.get("session_id") != self.session.thread_id:
            return
        if event["type"] == "run_started":
            self._news.set()
        elif event["type"] == "title" and not self._is_forwarding_run:
            await self.send_json(event)

    async def _forward(self, cursor: Cursor) -> None:
        """Each run in turn; between them, wait for news or look every few seconds."""
        run = await in_orm_thread(_first_run)(self.session, cursor)
        while True:
            if run is not None:
                self._is_forwarding_run = True
                reached = await self._forward_run(run, cursor.within(run.round))
                self._is_forwarding_run = False
                if reached is None:
                    return
                cursor = Cursor(run.round, reached)
            self._news.clear()
            run = await in_orm_thread(_run_after)(self.session, cursor.round)
            if run is None:
                if not await self._wait_for_news():
                    return
                run = await in_orm_thread(_run_after)(self.session, cursor.round)

    async def _forward_run(self, run: Run, after: int) -> int | None:
        """The number of the last event sent; None when the socket is closed."""
        if run.is_finished and after >= run.saved_seq:
            return after
        sent, address = 0, RunAddress.of(run)
        async with contextlib.aclosing(follow(address, after=after)) as items:
            async for item in items:
                if isinstance(item, Heartbeat):
                    if not await self._beat():
                        return None
                    continue
                for entry in item.entries:
                    await self.send(text_data=entry.data.decode())
                    sent += len(entry.data)
                after = item.entries[-1].seq
                if sent > settings.CONNECTION_BYTES and not item.is_last:
                    await self.close(CLOSE_RECONNECT)
                    return None
        return after

    async def _wait_for_news(self) -> bool:
        """False when the person may no longer listen."""
        try:
            async with asyncio.timeout(settings.HEARTBEAT_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return await self._beat()
        return True

    async def _beat(self) -> bool:
        assert self.identity is not None
        if not await in_orm_thread(self.identity.is_still_valid)():
            await self.close(CLOSE_NOT_AUTHENTICATED)
            return False
        await self.send_json(
            {"type": "heartbeat", "session_id": self.session.thread_id}
        )
        return True

    async def command(self, frame: dict[str, Any]) -> None:
        assert self.identity is not None
        match frame["type"]:
            case "message":
                await self._message(self.identity, frame)
            case "stop":
                await self._authorise(Role.MEMBER)
                await in_orm_thread(stop_session)(self.session)
            case "approve" | "reject":
                await self._decide(self.identity, frame)
            case _:
                await super().command(frame)

    async def _decide(self, identity: Identity, frame: dict[str, Any]) -> None:
        form = DecisionSerializer(data={**frame, "decision": frame["type"]})
        if not form.is_valid():
            text = "A decision has an approval_id, and may have arguments or a reason."
            await self.send_error("bad_frame", text)
            return
        project = await self._authorise(Role.ENGINEER)
        decision = as_decision(form.validated_data)
        run = await in_orm_thread(run_of_approval)(self.session, decision.approval_id)
        await in_orm_thread(decide)(
            run=run,
            user=identity.user,
            decisions=[decision],
            secrets=await in_waiting_thread(secrets_for)(identity, project),
        )

    async def _message(self, identity: Identity, frame: dict[str, Any]) -> None:
        text, strategy = frame.get("message"), frame.get("multitask_strategy", "reject")
        if not isinstance(text, str):
            await self.send_error("message_empty", "A message frame has a message.")
            return
        if strategy not in ("reject", "enqueue", "interrupt"):
            await self.send_error("bad_frame", "Unknown multitask_strategy.")
            return
        project = await self._authorise(Role.MEMBER)
        key, profile = frame.get("client_message_id"), frame.get("profile")
        await in_orm_thread(start_run)(
            user=identity.user,
            project=project,
            message=text.replace("\x00", ""),
            session_id=self.session.thread_id,
            profile=profile if isinstance(profile, str) else None,
            multitask_strategy=strategy,
            request_key=key[:255] if isinstance(key, str) else None,
            secrets=await in_waiting_thread(secrets_for)(identity, project),
        )
        # The live feed may be down; the row is there.
        self._news.set()

    async def _authorise(self, role: Role) -> Project:
        """Again at each command: roles change while a socket is open."""
        assert self.identity is not None
        project = await find_project(
            self.identity,
            self.project.project_id,
            role=role,
            server=self.project.server.name,
        )
        if is_fresh(project):
            return project
        token = token_for(self.identity, project.server)
        return await refresh_project(project, token=token)

    async def disconnect(self, code: int) -> None:
        await super().disconnect(code)
        if self._forwarding is not None:
            self._forwarding.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._forwarding
        if self.identity is not None:
            group = user_group(self.identity.user.pk)
            await self.channel_layer.group_discard(group, self.channel_name)


class UserConsumer(IdentifiedConsumer):
    """The user's own channel: titles, started runs."""

    async def begin(self) -> None:
        assert self.identity is not None
        group = user_group(self.identity.user.pk)
        await self.channel_layer.group_add(group, self.channel_name)
        await self.send_json({"type": "ready"})

    async def user_event(self, message: dict[str, Any]) -> None:
        assert self.identity is not None
        if not await in_orm_thread(self.identity.is_still_valid)():
            await self.close(CLOSE_NOT_AUTHENTICATED)
            return
        await self.send_json(message["event"])

    async def disconnect(self, code: int) -> None:
        await super().disconnect(code)
        if self.identity is not None:
            group = user_group(self.identity.user.pk)
            await self.channel_layer.group_discard(group, self.channel_name)


class NotFoundConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # untyped
    """Any other address: a clean close instead of an error."""

    async def connect(self) -> None:
        await self.close(CLOSE_NOT_FOUND)


def _first_run(session: ChatSession, cursor: Cursor) -> Run | None:
    """The cursor's run; without a cursor the active one, else the newest."""
    runs = session.runs.select_related("session").exclude(status="pending")
    if cursor.round:
        return runs.filter(round=cursor.round).first()
    return runs.active().first() or runs.last()


def _run_after(session: ChatSession, round: int) -> Run | None:
    """The first later one that is not waiting in line."""
    runs = session.runs.select_related("session").exclude(status="pending")
    return runs.filter(round__gt=round).order_by("round").first()
