"""The only way in: start a run, stop a run."""

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext

from chat.approvals import GivenWay, give_way
from chat.documents.attachments import link
from chat.models import ChatSession, Message, Run
from chat.models.run import ACTIVE, Status
from chat.news import announce_start
from chat.profiles.active import profile_of_session
from chat.queue import publish
from chat.stopping import stop_run as stop_run
from copilot_site.lib.errors import Conflict, NotFound, UserFacingError
from llmconfig.selection import choose
from projects.models import Project

logger = logging.getLogger(__name__)

MultitaskStrategy = Literal["reject", "enqueue", "interrupt"]


class RunActive(Conflict):
    """The session has an unfinished run."""

    code = "run_active"

    def __init__(self, run: Run | None) -> None:
        super().__init__(
            gettext(
                "This conversation is still being answered. Wait, stop it, "
                "or send the message with multitask_strategy=enqueue."
            )
        )
        self.run_id = str(run.pk) if run else None


class MessageTooLong(UserFacingError):
    code = "message_too_long"
    status = 413


class MessageEmpty(UserFacingError):
    code = "message_empty"
    status = 422


class ProjectNotOpened(UserFacingError):
    code = "project_not_opened"
    status = 403


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A committed run; not published: it waits for a sweep of the workers."""

    run: Run
    is_published: bool
    is_repeated: bool = False


def start_run(
    *,
    user: User,
    project: Project | None,
    message: str,
    session_id: str | None = None,
    profile: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    multitask_strategy: MultitaskStrategy = "reject",
    request_key: str | None = None,
    secrets: str = "",
    options: dict[str, Any] | None = None,
    document_ids: Sequence[uuid.UUID] | None = None,
) -> StartedRun:
    """Store the message and its run, then tell the workers.

    A run that waits for approvals gives way: the message is its answer.
    Raises RunActive, NotFound (somebody else's session), ProjectNotOpened,
    ProfileUnknown, LLMNotConfigured, MessageEmpty, MessageTooLong.
    """
    _check_message(message)
    if project is not None and not project.is_opened:
        raise ProjectNotOpened(
            gettext("The project “%(name)s” is closed. Open it to chat.")
            % {"name": project.name}
        )
    key = _scoped_key(user, project, request_key)
    if key and (earlier := _earlier(key)):
        return StartedRun(earlier, is_published=True, is_repeated=True)
    try:
        with transaction.atomic():
            session = _session(user, project, session_id)
            chosen = profile_of_session(profile, session.last_profile(), user=user)
            choice = choose(user=user, **chosen.model_for("chat"))
            given_way = give_way(session, user=user, text=message)
            run = _create_run(
                session,
                strategy=_strategy(multitask_strategy, given_way),
                request_key=key,
                llm_config=choice.config,
                profile=chosen.name,
                profile_version=chosen.version,
                agent=chosen.agent,
                options=options or {},
                temperature=temperature,
                max_tokens=max_tokens,
                secrets=secrets,
            )
            link(_create_message(run, message), document_ids)
    except IntegrityError:
        # Two at once: the same request repeated, or two messages in one session.
        if key and (earlier := _earlier(key)):
            return StartedRun(earlier, is_published=True, is_repeated=True)
        raise RunActive(None) from None
    if given_way is not None:
        given_way.tell()
    is_published = True
    if run.status == Status.QUEUED:
        is_published = publish(run)
    elif multitask_strategy == "interrupt":
        active = session.runs.active().first()
        if active is not None:
            stop_run(active, reason="interrupted")
    announce_start(run)
    return StartedRun(run, is_published)


def _strategy(
    wanted: MultitaskStrategy, given_way: GivenWay | None
) -> MultitaskStrategy:
    """A run that waited in line goes first; the message that freed it is kept."""
    return "enqueue" if given_way and wanted == "reject" else wanted


def stop_session(session: ChatSession, *, reason: str = "user") -> bool:
    """Stop the session's active run. False if there is none."""
    active = session.runs.active().select_related("session").first()
    return active is not None and stop_run(active, reason=reason)


def _check_message(message: str) -> None:
    if not message.strip():
        raise MessageEmpty(gettext("The message is empty."))
    if len(message) > settings.MESSAGE_LENGTH:
        raise MessageTooLong(
            gettext("The message has %(count)d characters; %(most)d are the most.")
            % {"count": len(message), "most": settings.MESSAGE_LENGTH}
        )


def _scoped_key(user: User, project: Project | None, key: str | None) -> str | None:
    """A client's key counts for this user and project only."""
    if not key:
        return None
    scope = f"{user.pk}:{project.pk if project else ''}:{key}"
    return hashlib.sha256(scope.encode()).hexdigest()


def _earlier(key: str) -> Run | None:
    return Run.objects.select_related("session").filter(request_key=key).first()


def _session(
    user: User, project: Project | None, session_id: str | None
) -> ChatSession:
    """The user's session in this project, locked; an unknown id makes a new one."""
    if session_id is None:
        return ChatSession.objects.create(user_id=user.pk, project=project)
    rows = ChatSession.objects.select_for_update().filter(thread_id=session_id)
    session = rows.first()
    if session is None:
        return ChatSession.objects.create(
            thread_id=session_id, user_id=user.pk, project=project
        )
    if session.user_id != user.pk or session.project_id != (project and project.pk):
        raise NotFound(gettext("There is no such conversation."))
    return session


def _create_run(
    session: ChatSession, *, strategy: MultitaskStrategy, **fields: Any
) -> Run:
    unfinished = Count("pk", filter=Q(status__in=[*ACTIVE, Status.PENDING]))
    seen = session.runs.aggregate(last=Max("round"), unfinished=unfinished)
    if seen["unfinished"] and strategy == "reject":
        raise RunActive(session.runs.active().first())
    # An imported session has rounds without runs.
    stored = session.messages.aggregate(last=Max("round"))["last"] or 0
    return Run.objects.create(
        session=session,
        round=max(seen["last"] or 0, stored) + 1,
        status=Status.PENDING if seen["unfinished"] else Status.QUEUED,
        **fields,
    )


def _create_message(run: Run, text: str) -> Message:
    session, now = run.session, timezone.now()
    parent = session.messages.order_by("-round", "-sequence").first()
    ChatSession.objects.filter(pk=session.pk).update(
        last_message_at=now, updated_at=now
    )
    return Message.objects.create(
        session=session,
        run=run,
        parent=parent,
        round=run.round,
        sequence=1,
        role=Message.Role.USER,
        content=text,
        created_at=now,
    )
