"""`/api/chat`: answers with evidence, as named server-sent events."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from chat.access import conversation_for
from chat.api.grounded_shapes import GroundedRequestSerializer
from chat.api.named_sse import named_frames
from chat.api.sse import sse_response, unread_after
from chat.api.stream import StreamUnavailable, newest_run
from chat.events.address import RunAddress
from chat.models import ChatSession
from chat.profiles.active import ProfileUnknown, profile_for, profiles_of
from chat.runs import StartedRun, start_run
from copilot_site.api import BadRequest, api_view, json_body
from copilot_site.authentication import Identity
from copilot_site.bearer import in_waiting_thread
from copilot_site.lib.errors import NotFound
from copilot_site.lib.orm import in_orm_thread
from projects.access import find_project, secrets_for, token_for
from projects.models import Project, Role
from projects.sync import is_fresh, refresh_project

_KEY_LENGTH = 255
_AGENT = "grounded"
_DEFAULT_PROFILE = "campus"


class ProfileNotGrounded(BadRequest):
    """Its agent does not answer from evidence alone."""

    code = "profile_not_grounded"


@api_view("POST")
async def chat(request: HttpRequest, identity: Identity) -> HttpResponseBase:
    """Ask. All is checked before anything is stored."""
    form = _validated(json_body(request))
    profile = await in_orm_thread(_profile)(identity, form["profile"])
    project = await _project_of(request, identity, form)
    options: dict[str, Any] = {}
    if form["collections"] is not None:
        options["collections"] = form["collections"]
    secrets = ""
    if project is not None:
        secrets = await in_waiting_thread(secrets_for)(identity, project)
    started: StartedRun = await in_orm_thread(start_run)(
        user=identity.user,
        project=project,
        message=form["message"],
        session_id=form["conversation_id"] and str(form["conversation_id"]),
        profile=profile,
        request_key=request.headers.get("Idempotency-Key", "")[:_KEY_LENGTH] or None,
        secrets=secrets,
        options=options,
    )
    if not started.is_published:
        raise StreamUnavailable(started.run)
    return await _stream(identity, RunAddress.of(started.run), after=0)


@api_view("GET")
async def events(
    request: HttpRequest, identity: Identity, conversation_id: str
) -> HttpResponseBase:
    """Follow the newest run from a cursor; 204 when it is over and fully read."""
    session = await in_waiting_thread(conversation_for)(identity, conversation_id)
    run = await in_orm_thread(newest_run)(session)
    after = None if run is None else unread_after(request, run)
    if run is None or after is None:
        return HttpResponse(status=204)
    return await _stream(identity, RunAddress.of(run), after=after)


async def _stream(
    identity: Identity, address: RunAddress, *, after: int
) -> HttpResponseBase:
    response = await sse_response(
        named_frames(
            address,
            after=after,
            is_still_valid=in_orm_thread(identity.is_still_valid),
        )
    )
    response["X-Conversation-Id"] = address.session_id
    return response


def _validated(body: dict[str, Any]) -> dict[str, Any]:
    form = GroundedRequestSerializer(data=body)
    form.is_valid(raise_exception=True)
    checked: dict[str, Any] = form.validated_data
    return checked


def _profile(identity: Identity, name: str) -> str:
    """The name of a grounded profile. Raises ProfileUnknown, ProfileNotGrounded."""
    try:
        profile = profile_for(name or _DEFAULT_PROFILE, user=identity.user)
    except ProfileUnknown as error:
        grounded = [one for one in profiles_of(identity.user) if one.agent == _AGENT]
        if name or not grounded:
            raise BadRequest(str(error)) from None
        profile = grounded[0]
    if profile.agent != _AGENT:
        raise ProfileNotGrounded(
            f"The profile “{profile.name}” does not answer from evidence alone. "
            "Ask it in a project's chat."
        )
    return profile.name


async def _project_of(
    request: HttpRequest, identity: Identity, form: dict[str, Any]
) -> Project | None:
    """Of the conversation, where there is one; else the one that is named."""
    wanted = form["project_id"] and str(form["project_id"])
    if form["conversation_id"]:
        known = await in_orm_thread(_known)(str(form["conversation_id"]))
        if known is not None:
            owner, project_id = known
            is_same = not wanted or wanted == project_id
            if owner != identity.user.pk or not is_same:
                raise NotFound("There is no such conversation.")
            wanted = project_id
    if not wanted:
        return None
    server = request.headers.get("X-GNS3-Server", "")
    project = await find_project(identity, wanted, role=Role.MEMBER, server=server)
    if is_fresh(project):
        return project
    token = token_for(identity, project.server)
    return await refresh_project(project, token=token)


def _known(thread_id: str) -> tuple[int, str | None] | None:
    """Whose a conversation is, and in which project."""
    rows = ChatSession.objects.filter(thread_id=thread_id)
    return rows.values_list("user_id", "project__project_id").first()
