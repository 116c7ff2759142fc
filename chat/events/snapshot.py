"""The visible state of a session from its rows, in place of events that are gone."""

from dataclasses import dataclass
from typing import Any

import orjson
from django.utils import timezone

from chat.events.address import RunAddress
from chat.events.log import Entry
from chat.events.vocabulary import Done, Snapshot, encode
from chat.history import newest_messages, turns_of
from chat.models import Run, ToolCall


@dataclass(frozen=True, slots=True)
class RowState:
    """Where the rows are, and the events that say so."""

    seq: int
    status: str
    is_over: bool
    entries: list[Entry]


def state_of(address: RunAddress, seq: int) -> RowState:
    """A snapshot, and `done` if the run is over, unless a follower at `seq` has it."""
    run = Run.objects.select_related("session").filter(pk=address.run_id).first()
    if run is None:
        # Deleted while it was followed.
        gone = _encode(address, 0, seq + 1, Done("stopped", "deleted"))
        return RowState(seq + 1, "stopped", True, [gone])
    if not run.is_finished:
        if run.saved_seq <= seq:
            return RowState(run.saved_seq, run.status, False, [])
        picture = _encode(address, run.attempt, run.saved_seq, snapshot_of(run))
        return RowState(run.saved_seq, run.status, False, [picture])
    last = max(run.saved_seq, 2)
    picture = _encode(address, run.attempt, last - 1, snapshot_of(run))
    done = _encode(address, run.attempt, last, done_of(run))
    return RowState(last, run.status, True, [picture, done])


def done_of(run: Run) -> Done:
    """How the run ended, with its tokens."""
    total = (
        None
        if run.input_tokens is None or run.output_tokens is None
        else run.input_tokens + run.output_tokens
    )
    return Done(
        status=run.status,
        reason=run.reason or run.error_code,
        usage={
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
            "total_tokens": total,
        },
        **(_grounds(run) if run.agent == "grounded" else {}),
    )


def _grounds(run: Run) -> dict[str, Any]:
    """What a grounded answer rests on, or why there is none."""
    last = run.messages.filter(role="assistant").last()
    if last is None or "supported" not in last.metadata:
        return {}
    facts = ("supported", "confidence", "citations", "declined")
    found = {name: last.metadata.get(name) for name in facts}
    return {**found, "message_id": str(last.pk)}


def snapshot_of(run: Run) -> Snapshot:
    """The newest messages of the session; calls and approvals of this run."""
    messages = newest_messages(run.session, limit=200)
    approvals = run.approvals.select_related("tool_call", "decided_by")
    calls = ToolCall.objects.filter(run=run).select_related("result")
    return Snapshot(
        run={
            "id": str(run.pk),
            "round": run.round,
            "status": run.status,
            "error": run.error,
        },
        title=run.session.title,
        messages=turns_of(run.session, messages),
        tool_calls=[_call(call) for call in calls],
        approvals=[approval.as_json() for approval in approvals],
    )


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "status": call.status,
        "output": call.result.content if call.result else None,
        "elapsed_ms": call.elapsed_ms,
        "message_id": str(call.message_id),
    }


def _encode(address: RunAddress, attempt: int, seq: int, event: Any) -> Entry:
    head = {
        "seq": seq,
        "attempt": attempt,
        **address.head(),
        "timestamp": timezone.now().isoformat(),
    }
    return Entry(seq, attempt, encode(event, head))


def as_dict(entry: Entry) -> dict[str, Any]:
    """The event of an entry, parsed."""
    event: dict[str, Any] = orjson.loads(entry.data)
    return event
