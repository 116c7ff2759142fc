"""Asking and following: the async views. The run goes on whoever listens."""

import asyncio
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext

from chat.access import session_for
from chat.api.serializers import ChatRequestSerializer
from chat.api.sse import frames, sse_response, unread_after
from chat.events.address import RunAddress
from chat.events.reader import Batch, follow, is_waiting
from chat.history import newest_messages, turns_of
from chat.models import ChatSession, Message, Run
from chat.runs import StartedRun, start_run
from copilot_site.api import api_view, json_body
from copilot_site.authentication import Identity
from copilot_site.bearer import in_waiting_thread
from copilot_site.lib.errors import Unavailable
from copilot_site.lib.orm import in_orm_thread
from projects.access import find_project, secrets_for, token_for
from projects.models import Project, Role
from projects.sync import is_fresh, refresh_project

_KEY_LENGTH = 255


class StreamUnavailable(Unavailable):
    """The message is stored; only the live feed is missing."""

    code = "stream_unavailable"

    def __init__(self, run: Run) -> None:
        super().__init__(
            gettext(
                "Your message is stored and will be answered as soon as a worker can "
                "be reached. Read the session's events or history a little later."
            )
        )
        self.run_id = str(run.pk)


@api_view("POST")
async def stream(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponseBase:
    """Ask: SSE by default, JSON at the end with stream=false, 202 if preferred."""
    form = _validated(json_body(request))
    project = await _project(request, identity, project_id, Role.MEMBER)
    if not is_fresh(project):
        token = token_for(identity, project.server)
        project = await refresh_project(project, token=token)
    started: StartedRun = await in_orm_thread(start_run)(
        user=identity.user,
        project=project,
        message=form["message"],
        session_id=str(form["session_id"]) if form["session_id"] else None,
        profile=form["profile"],
        temperature=form["temperature"],
        max_tokens=form["max_tokens"],
        multitask_strategy=form["multitask_strategy"],
        document_ids=form["document_ids"],
        request_key=request.headers.get("Idempotency-Key", "")[:_KEY_LENGTH] or None,
        secrets=await _secrets(identity, project),
    )
    run = started.run
    if "respond-async" in request.headers.get("Prefer", ""):
        return _accepted(project, run)
    if not started.is_published:
        raise StreamUnavailable(run)
    address = RunAddress.of(run)
    if not form["stream"]:
        return await _whole_answer(address)
    return await sse_response(
        frames(
            address,
            after=0,
            is_still_valid=in_orm_thread(identity.is_still_valid),
            until_waiting=True,
        )
    )


@api_view("GET")
async def events(
    request: HttpRequest, identity: Identity, project_id: str, session_id: str
) -> HttpResponseBase:
    """Follow the newest run from a cursor; 204 when it is over and fully read."""
    project = await _project(request, identity, project_id, Role.VIEWER)
    session = await in_orm_thread(session_for)(identity.user, project, session_id)
    run = await in_orm_thread(newest_run)(session)
    after = None if run is None else unread_after(request, run)
    if run is None or after is None:
        return HttpResponse(status=204)
    return await sse_response(
        frames(
            RunAddress.of(run),
            after=after,
            is_still_valid=in_orm_thread(identity.is_still_valid),
        )
    )


def _validated(body: dict[str, Any]) -> dict[str, Any]:
    form = ChatRequestSerializer(data=body)
    form.is_valid(raise_exception=True)
    checked: dict[str, Any] = form.validated_data
    return checked


async def _project(
    request: HttpRequest, identity: Identity, project_id: str, role: Role
) -> Project:
    server = request.headers.get("X-GNS3-Server", "")
    return await find_project(identity, project_id, role=role, server=server)


async def _secrets(identity: Identity, project: Project) -> str:
    """Only who came with a login of GNS3 has any; others wait for no thread."""
    if identity.gns3 is None:
        return ""
    return await in_waiting_thread(secrets_for)(identity, project)


def _accepted(project: Project, run: Run) -> HttpResponse:
    path = {
        "project_id": project.project_id,
        "session_id": run.session.thread_id,
    }
    response = JsonResponse(
        {
            "session_id": run.session.thread_id,
            "run_id": str(run.pk),
            "round": run.round,
            "status": run.status,
        },
        status=202,
    )
    response["Location"] = reverse("session-events", kwargs=path)
    response["Preference-Applied"] = "respond-async"
    return response


async def _whole_answer(address: RunAddress) -> HttpResponse:
    """Wait for the end, or for a person to be asked, then answer from rows."""
    async for item in follow(address):
        if isinstance(item, Batch) and item.is_last:
            break
        if await is_waiting(address, item):
            break
        await asyncio.sleep(0)
    return JsonResponse(await in_orm_thread(_result)(address))


def _result(address: RunAddress) -> dict[str, Any]:
    run = Run.objects.select_related("session").get(pk=address.run_id)
    messages = [
        message
        for message in newest_messages(run.session, limit=200)
        if message.round == run.round
    ]
    answers = [
        message.content
        for message in messages
        if message.role == Message.Role.ASSISTANT and message.content
    ]
    return {
        "session_id": address.session_id,
        "run_id": address.run_id,
        "round": run.round,
        "status": run.status,
        "content": answers[-1] if answers else "",
        "error": run.error or None,
        "code": run.error_code or None,
        "messages": turns_of(run.session, messages),
        "approvals": [
            row.as_json()
            for row in run.approvals.select_related("tool_call", "decided_by")
        ],
        "usage": {
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
        },
    }


def newest_run(session: ChatSession) -> Run | None:
    """The active one, else the last that ended; a waiting one has no events yet."""
    runs = session.runs.select_related("session")
    return runs.active().first() or runs.exclude(status="pending").last()
