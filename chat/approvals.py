"""Deciding on a waiting run's calls: such a run belongs to nobody but its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from chat.agent.tools import TOOLS
from chat.agent.tools.base import ToolFailed, as_json
from chat.ending import end_run, say_for
from chat.events.vocabulary import ApprovalResolved, Event, ToolEnded
from chat.models import Approval, ChatSession, Message, Run, ToolCall
from chat.models.run import RunQuerySet, Status
from chat.news import announce_resolved
from chat.queue import publish
from chat.stopping import stop_run
from copilot_site.lib.errors import Conflict, NotFound, UserFacingError

_REASON_LENGTH = 2_000
_ARGUMENTS_LENGTH = 100_000


class ApprovalDecided(Conflict):
    """The first decision wins."""

    code = "approval_decided"


class EditRefused(UserFacingError):
    code = "edit_refused"
    status = 422


@dataclass(frozen=True, slots=True)
class Decision:
    """On one call; `arguments` are a person's own in place of the model's."""

    approval_id: str
    is_approved: bool
    arguments: dict[str, Any] | None = None
    reason: str = ""


def decide(
    *, run: Run, user: User, decisions: Sequence[Decision], secrets: str = ""
) -> list[Approval]:
    """All of them or none; when nothing waits any more, the run is queued again.

    Raises NotFound, ApprovalDecided, EditRefused. Who may decide is the caller's.
    """
    with transaction.atomic():
        _lock(run)
        known = {str(row.pk): row for row in _rows(run)}
        decided = [_decide(run, known, each, user) for each in decisions]
        events: list[Event] = [ApprovalResolved([row.as_json() for row in decided])]
        events += _refused_calls(decided)
        Run.objects.filter(pk=run.pk).update(saved_seq=run.saved_seq + len(events))
        is_over = all(row.status != Approval.Status.WAITING for row in known.values())
        if is_over:
            run.go_on()
            if secrets and run.session.user_id == user.pk:
                # The token that the run was begun with may have expired meanwhile.
                Run.objects.filter(pk=run.pk).update(secrets=secrets)
        run.refresh_from_db(fields=["saved_seq"])
    # Before a worker takes the run: from then on only its own events are heard.
    say_for(run, events)
    announce_resolved(run)
    if is_over:
        publish(run)
    return decided


@dataclass(frozen=True, slots=True)
class GivenWay:
    """A run that was ended for a new message; to be told once that is committed."""

    run: Run
    events: list[Event]

    def tell(self) -> None:
        say_for(self.run, self.events, is_over=True)
        announce_resolved(self.run)


def give_way(session: ChatSession, *, user: User, text: str) -> GivenWay | None:
    """In the transaction that stores a new message, with its session locked.

    Rejects what waits, with that text as the reason. None where nothing does.
    """
    waiting = session.runs.filter(status=Status.WAITING_APPROVAL)
    run = waiting.select_related("session__user").first()
    if run is None:
        return None
    rows = [row for row in _rows(run) if row.status == Approval.Status.WAITING]
    for row in rows:
        _reject(row, user, text)
    events: list[Event] = [ApprovalResolved([row.as_json() for row in rows])]
    events += _refused_calls(rows)
    closing = end_run(
        run,
        [Status.WAITING_APPROVAL],
        Status.STOPPED,
        last_seq=run.saved_seq + len(events),
        reason="new_message",
    )
    assert closing is not None, "its session is locked"
    return GivenWay(run, events + closing)


def overdue() -> RunQuerySet:
    """Runs on which nobody has decided for as long as they may wait."""
    limit = timezone.now() - timedelta(hours=settings.APPROVAL_HOURS)
    due = Approval.objects.filter(
        status=Approval.Status.WAITING, requested_at__lt=limit
    )
    return Run.objects.filter(status=Status.WAITING_APPROVAL, pk__in=due.values("run"))


def end_overdue() -> int:
    """How many were ended."""
    runs = overdue().select_related("session")
    return sum(stop_run(run, reason="approval_expired") for run in runs)


def _lock(run: Run) -> None:
    """As the end of a run does: the session first, so that none waits for the other."""
    ChatSession.objects.select_for_update().filter(pk=run.session_id).first()
    try:
        run.refresh_from_db(fields=["status", "attempt", "saved_seq"])
    except Run.DoesNotExist:
        # Deleted since it was looked up.
        raise NotFound(gettext("There is no such run.")) from None


def _rows(run: Run) -> list[Approval]:
    related = ("tool_call__message", "decided_by")
    return list(run.approvals.select_related(*related))


def _decide(
    run: Run, known: dict[str, Approval], decision: Decision, user: User
) -> Approval:
    row = known.get(decision.approval_id)
    if row is None:
        raise NotFound(gettext("There is no such approval."))
    is_waiting = run.status == Status.WAITING_APPROVAL
    if not is_waiting or row.status != Approval.Status.WAITING:
        raise ApprovalDecided(_decided(row))
    if decision.is_approved:
        _approve(row, user, decision)
    else:
        _reject(row, user, decision.reason)
    return row


def _decided(row: Approval) -> str:
    status = Approval.Status(row.status).label.lower()
    if not row.decided_by:
        return gettext("This is no longer waiting: %(status)s.") % {"status": status}
    text = gettext("This is no longer waiting: %(status)s by %(who)s.")
    return text % {"status": status, "who": row.decided_by.get_username()}


def _approve(row: Approval, user: User, decision: Decision) -> None:
    row.status = Approval.Status.APPROVED
    if decision.arguments is not None and decision.arguments != row.asked():
        _edit(row, decision.arguments)
    _save(row, user, decision.reason)


def _edit(row: Approval, arguments: dict[str, Any]) -> None:
    """What runs, and what history shows, are the person's arguments from here on."""
    call, text = row.tool_call, as_json(arguments)
    if len(text) > _ARGUMENTS_LENGTH:
        raise EditRefused(
            gettext("More than %(count)d characters are too many.")
            % {"count": _ARGUMENTS_LENGTH}
        )
    tool = TOOLS.get(call.name)
    if tool is None:
        raise EditRefused(gettext("Calls of this tool cannot be edited."))
    try:
        row.proposal = tool.edit(arguments, row.proposal)
    except ToolFailed as error:
        raise EditRefused(str(error)) from None
    row.arguments = call.arguments = text
    call.effect = tool.effect(arguments)
    call.save(update_fields=["arguments", "effect"])


def _reject(row: Approval, user: User, reason: str) -> None:
    row.status = Approval.Status.REJECTED
    _save(row, user, reason)
    call = row.tool_call
    who = user.get_username()
    told = {"error": f"Not run: {who} rejected it.", "rejected": True}
    if row.reason:
        told["reason"] = row.reason
    call.result = Message.objects.create(
        session_id=call.message.session_id,
        run_id=row.run_id,
        parent=call.message,
        round=call.message.round,
        sequence=call.message.sequence + 1 + call.position,
        role=Message.Role.TOOL,
        name=call.name,
        tool_call_id=call.call_id,
        content=as_json(told),
        metadata={"is_error": True, "rejected_by": who},
    )
    call.status = ToolCall.Status.REFUSED
    call.finished_at = row.decided_at
    call.save(update_fields=["result", "status", "finished_at"])


def _save(row: Approval, user: User, reason: str) -> None:
    row.reason = reason.strip()[:_REASON_LENGTH]
    row.decided_by, row.decided_at = user, timezone.now()
    fields = ["status", "reason", "arguments", "proposal", "decided_by", "decided_at"]
    row.save(update_fields=fields)


def _refused_calls(rows: Sequence[Approval]) -> list[ToolEnded]:
    """A rejected call has its result at once: nothing will run."""
    return [
        ToolEnded(call.name, call.call_id, call.result.content, "error")
        for call in (row.tool_call for row in rows)
        if call.result is not None
    ]
