"""A run lets go of its worker to wait for a person: one transaction, then events."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone

from chat.agent.state import Asked, Consent
from chat.events.vocabulary import ApprovalRequired, ApprovalResolved, Event
from chat.models import Approval, Run, ToolCall
from chat.news import announce_waiting

_OPEN = (Approval.Status.WAITING, Approval.Status.APPROVED)


def consents_of(run: Run) -> dict[str, Consent]:
    """By call: what is being decided, and what has been for it to run."""
    rows = run.approvals.filter(status__in=_OPEN).select_related("tool_call")
    return {
        row.tool_call.call_id: Consent(
            is_given=row.status == Approval.Status.APPROVED, state=row.state
        )
        for row in rows
    }


def wait_for_approval(
    run: Run,
    calls: Mapping[str, ToolCall],
    asked: Sequence[Asked],
    expired: Mapping[str, str],
    *,
    last_seq: int,
) -> list[Event]:
    """The events to publish; none if the run is no longer this attempt's to end."""
    with transaction.atomic():
        events: list[Event] = []
        # The row first: whoever stops the run, or owns it now, has it already.
        if not run.wait_for_approval(saved_seq=last_seq + 1 + bool(expired)):
            return []
        if void := [_expire(calls[key], why) for key, why in expired.items()]:
            events.append(ApprovalResolved([row.as_json() for row in void]))
        Approval.objects.bulk_create(
            Approval(
                run=run,
                tool_call=calls[each.call_id],
                proposal=each.proposal,
                state=each.state,
                asked_arguments=calls[each.call_id].arguments,
            )
            for each in asked
        )
        waiting = run.approvals.filter(status=Approval.Status.WAITING)
        rows = waiting.select_related("tool_call", "decided_by")
        events.append(ApprovalRequired([row.as_json() for row in rows]))
        transaction.on_commit(lambda: announce_waiting(run))
    return events


def _expire(call: ToolCall, reason: str) -> Approval:
    """What was approved no longer counts."""
    row = Approval.objects.select_related("tool_call", "decided_by").get(
        tool_call=call, status=Approval.Status.APPROVED
    )
    row.status = Approval.Status.EXPIRED
    row.reason = reason
    row.decided_at = timezone.now()
    row.save(update_fields=["status", "reason", "decided_at"])
    return row
