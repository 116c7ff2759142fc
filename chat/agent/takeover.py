"""Where an attempt begins: with the rows that earlier ones have left."""

from django.db import transaction
from django.utils import timezone

from chat.agent.asking import consents_of
from chat.agent.record import RunRecord
from chat.agent.state import ToolResult
from chat.agent.tools.kit import now
from chat.agent.translate import CallRequest
from chat.events.vocabulary import ToolEnded
from chat.models import LLMCall, Message, ToolCall

_UNKNOWN = (
    "The worker died while this ran: its outcome is unknown. "
    "Look at the present state before you do it again."
)


def resume(record: RunRecord) -> list[str]:
    """Make the rows of a dead attempt a valid start; ids of voided messages."""
    run = record.run
    with transaction.atomic():
        record.hold()
        drafts = run.messages.filter(role=Message.Role.ASSISTANT, is_partial=True)
        discarded = [str(pk) for pk in drafts.values_list("pk", flat=True)]
        drafts.delete()
        run.llm_calls.filter(status=LLMCall.Status.STARTED).update(
            status=LLMCall.Status.LOST, finished_at=timezone.now()
        )
    calls = run.tool_calls.select_related("result", "message")
    record.calls = {call.call_id: call for call in calls}
    record.registry.restore(call.evidence for call in calls)
    record.known_consents = consents_of(run)
    last = run.messages.exclude(role=Message.Role.TOOL).last()
    if last is not None:
        record.parent_id = last.pk
        record.place = last.sequence + last.calls.count()
    return discarded


def unknown_outcomes(record: RunRecord, changes: set[str]) -> list[ToolEnded]:
    """A change that a dead worker began is never repeated blindly; what to tell."""
    ended = []
    for call in record.calls.values():
        has_started = call.status == ToolCall.Status.RUNNING and call.result is None
        if has_started and call.call_id in changes:
            # Whatever was read of its devices before may no longer hold.
            evidence = {"changed": now(_devices_of(call))}
            record.finish_call(call, ToolResult(_UNKNOWN, True, evidence), 0)
            call.status = ToolCall.Status.UNKNOWN
            call.save(update_fields=["status"])
            ended.append(ToolEnded(call.name, call.call_id, _UNKNOWN, "error", 0))
    return ended


def _devices_of(call: ToolCall) -> list[str]:
    """The devices that its arguments name."""
    arguments = CallRequest(call.call_id, call.name, call.arguments).parsed() or {}
    named = [*arguments.get("devices", ()), *arguments.get("nodes", ())]
    return [
        name
        for one in named
        if isinstance(name := one.get("device") if isinstance(one, dict) else one, str)
    ]


def open_requests(record: RunRecord) -> list[CallRequest]:
    """Calls without a result."""
    return [
        CallRequest(call.call_id, call.name, call.arguments)
        for call in record.calls.values()
        if call.result is None
    ]
