"""The end of a run: rows and counters in one transaction, then the closing events."""

import logging
from collections.abc import Sequence
from datetime import datetime

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from redis.exceptions import RedisError

from chat.events.address import RunAddress
from chat.events.log import continue_log
from chat.events.snapshot import done_of
from chat.events.vocabulary import ApprovalResolved, Event, Failed, Stopped
from chat.ledger import totals_of
from chat.models import Approval, ChatSession, LLMCall, Message, Run, ToolCall
from chat.models.run import Status
from chat.news import announce_end
from chat.queue import publish

logger = logging.getLogger(__name__)


def end_run(
    run: Run,
    old: Sequence[Status],
    new: Status,
    *,
    last_seq: int,
    reason: str = "",
    error: str = "",
    error_code: str = "",
) -> list[Event] | None:
    """Write the end; the closing events to publish, or None if somebody else ended it.

    `last_seq` is the number of the last event so far; the row says which will be
    the last of all, so that followers know where the log should end.
    """
    closing: list[Event] = []
    with transaction.atomic():
        rows = ChatSession.objects.select_for_update().filter(pk=run.session_id)
        if rows.first() is None:
            return None
        void = _undecided(run, reason) if Status.WAITING_APPROVAL in old else []
        if void:
            closing.append(ApprovalResolved([row.as_json() for row in void]))
        if new == Status.FAILED:
            closing.append(Failed(error, error_code))
        elif new == Status.STOPPED:
            closing.append(Stopped(reason))
        ended = run.finish(
            old,
            new,
            attempt=run.attempt,
            saved_seq=last_seq + len(closing) + 1,
            reason=reason,
            error=error,
            error_code=error_code,
        )
        if not ended:
            return None
        Approval.objects.bulk_update(void, ["status", "decided_at"])
        _close_open_work(run)
        if new == Status.FAILED:
            _store_error(run, error, error_code)
        _count(run)
        transaction.on_commit(lambda: announce_end(run))
        promoted = _next_in_line(run.session)
        if promoted is not None and promoted.promote():
            transaction.on_commit(lambda: _publish(promoted))
    closing.append(done_of(run))
    return closing


def end_unowned_run(
    run: Run, old: Sequence[Status], new: Status = Status.STOPPED, **why: str
) -> bool:
    """End a run that no worker executes; its closing events are written here."""
    # A decision may have been told since the row was read.
    run.refresh_from_db(fields=["attempt", "saved_seq"])
    closing = end_run(run, old, new, last_seq=run.saved_seq, **why)
    if closing is None:
        return False
    say_for(run, closing, is_over=True)
    return True


def say_for(run: Run, events: Sequence[Event], *, is_over: bool = False) -> None:
    """Events of a run that no worker executes; its row's number has them already."""
    try:
        async_to_sync(continue_log)(
            RunAddress.of(run),
            run.attempt,
            events,
            floor=run.saved_seq - len(events),
            is_over=is_over,
        )
    except (RedisError, OSError):
        # Followers are served from the rows.
        logger.warning("Event log out of reach; run %s is told by its row", run.pk)


def _undecided(run: Run, reason: str) -> list[Approval]:
    """Waiting decisions that nobody needs to make any more."""
    rows = run.approvals.filter(status=Approval.Status.WAITING)
    void = list(rows.select_related("tool_call", "decided_by"))
    is_late = reason == "approval_expired"
    for row in void:
        row.status = Approval.Status.EXPIRED if is_late else Approval.Status.CANCELLED
        row.decided_at = timezone.now()
    return void


def _next_in_line(session: ChatSession) -> Run | None:
    """None while another is answered: it was one in line that ended."""
    if session.runs.active().exists():
        return None
    return session.runs.filter(status=Status.PENDING).order_by("round").first()


def _publish(run: Run) -> None:
    publish(run)


def _close_open_work(run: Run) -> None:
    """No call is left open: each gets a result, so that the next round is valid."""
    now = timezone.now()
    # A title may still be under way; it settles its own call.
    run.llm_calls.filter(status=LLMCall.Status.STARTED).exclude(
        operation=LLMCall.Operation.TITLE
    ).update(status=LLMCall.Status.STOPPED, finished_at=now)
    open_states = [ToolCall.Status.PENDING, ToolCall.Status.RUNNING]
    open_calls = run.tool_calls.filter(result=None).select_related("message")
    for call in open_calls:
        was_running = call.status == ToolCall.Status.RUNNING
        text = (
            "Cancelled while it ran: what it did so far is unknown."
            if was_running
            else "Cancelled before it ran."
        )
        result = Message.objects.create(
            session=run.session,
            run=run,
            parent=call.message,
            round=run.round,
            sequence=call.message.sequence + 1 + call.position,
            role=Message.Role.TOOL,
            name=call.name,
            tool_call_id=call.call_id,
            content=text,
            metadata={"cancelled": True},
        )
        call.result = result
        if call.status in open_states:
            call.status = ToolCall.Status.CANCELLED
        call.finished_at = now
        call.save(update_fields=["result", "status", "finished_at"])


def _store_error(run: Run, error: str, code: str) -> None:
    """A person finds it in the history; no model is ever told it."""
    last = run.messages.order_by("-sequence").first()
    Message.objects.create(
        session=run.session,
        run=run,
        parent=last,
        round=run.round,
        sequence=last.sequence + 1 if last else 1,
        role=Message.Role.ASSISTANT,
        content=error,
        finish_reason="error",
        metadata={"error": {"code": code, "message": error}},
    )


def _count(run: Run) -> None:
    """Totals of the run from its rows, added to the session's in one statement."""
    totals = totals_of(run)
    last: datetime | None = (
        run.messages.order_by("-created_at")
        .values_list("created_at", flat=True)
        .first()
    )
    Run.objects.filter(pk=run.pk).update(
        message_count=totals.message_count,
        llm_calls_count=totals.llm_calls_count,
        input_tokens=totals.input_tokens,
        output_tokens=totals.output_tokens,
    )
    run.refresh_from_db(fields=["input_tokens", "output_tokens"])
    read, written = totals.input_tokens or 0, totals.output_tokens or 0
    ChatSession.objects.filter(pk=run.session_id).update(
        message_count=F("message_count") + totals.message_count,
        llm_calls_count=F("llm_calls_count") + totals.llm_calls_count,
        input_tokens=F("input_tokens") + read,
        output_tokens=F("output_tokens") + written,
        total_tokens=F("total_tokens") + read + written,
        last_message_at=last or timezone.now(),
        updated_at=timezone.now(),
    )
