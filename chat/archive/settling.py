"""Imported rows as rows of a conversation that can go on."""

import uuid

from django.db.models import F, Q
from django.utils import timezone

from chat.models import Approval, ChatSession, LLMCall, Message, ToolCall
from chat.models.run import FINISHED, Status

_CLOSED = "Cancelled: the archive holds no result of this call."


def settle(session: ChatSession) -> None:
    """Nothing is in progress here: what was, has been stopped."""
    now = timezone.now()
    session.runs.exclude(status__in=FINISHED).update(
        status=Status.STOPPED, reason="imported_unfinished", finished_at=now
    )
    Approval.objects.filter(
        run__session=session, status=Approval.Status.WAITING
    ).update(status=Approval.Status.EXPIRED)
    LLMCall.objects.filter(session=session, status=LLMCall.Status.STARTED).update(
        status=LLMCall.Status.LOST, finished_at=now
    )
    open_calls = ToolCall.objects.filter(run__session=session, result=None)
    for call in open_calls.select_related("message").iterator(chunk_size=500):
        message = call.message
        call.result = Message.objects.create(
            id=uuid.uuid5(call.pk, "closed"),
            session=session,
            run_id=call.run_id,
            parent=message,
            round=message.round,
            sequence=message.sequence + 1 + call.position,
            role=Message.Role.TOOL,
            name=call.name,
            tool_call_id=call.call_id,
            content=_CLOSED,
            metadata={"cancelled": True},
            created_at=message.created_at,
        )
        if call.status in (ToolCall.Status.PENDING, ToolCall.Status.RUNNING):
            call.status = ToolCall.Status.CANCELLED
        call.save(update_fields=["result", "status"])


def stray_rows(session: ChatSession) -> bool:
    """Whether rows refer to rows of another session: only a forger's do."""
    messages = Message.objects.filter(session=session)
    calls = ToolCall.objects.filter(run__session=session)
    approvals = Approval.objects.filter(run__session=session)
    return any(
        rows.exists()
        for rows in (
            messages.filter(~Q(parent=None) & ~Q(parent__session=session)),
            calls.exclude(message__session=session),
            calls.filter(~Q(result=None) & ~Q(result__session=session)),
            approvals.exclude(tool_call__run=F("run")),
        )
    )
