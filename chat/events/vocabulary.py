"""Every kind of event; docs/events.md describes each, and a test keeps it true."""

from dataclasses import dataclass
from typing import Any, ClassVar

import orjson


@dataclass(frozen=True, slots=True)
class Event:
    """One numbered item of a run's log."""

    type: ClassVar[str]

    def fields(self) -> dict[str, Any]:
        """The event's own fields; those without a value are left out."""
        return {
            name: value
            for name, value in self._all_fields().items()
            if value is not None
        }

    def _all_fields(self) -> dict[str, Any]:
        # Not asdict: it copies deeply, for every token.
        names: tuple[str, ...] = self.__slots__
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class AttemptStarted(Event):
    """A worker begins or takes over; text of discarded messages is void."""

    type = "attempt"
    attempt: int
    discarded: list[str]


@dataclass(frozen=True, slots=True)
class MessageStored(Event):
    """A whole message, as history shows it."""

    type = "message"
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Content(Event):
    """A piece of the answer's text."""

    type = "content"
    content: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Reasoning(Event):
    """A piece of what the model thought aloud; never part of the answer."""

    type = "reasoning"
    content: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ToolCallWritten(Event):
    """A tool call as far as it is written; `arguments` is cumulative."""

    type = "tool_call"
    tool_call: dict[str, Any]
    tool_call_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    type = "tool_start"
    tool_name: str
    tool_call_id: str


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    type = "tool_end"
    tool_name: str
    tool_call_id: str
    tool_output: str
    status: str
    elapsed_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StatusChanged(Event):
    """What the copilot is doing or waiting for, in words."""

    type = "status"
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class LogLine(Event):
    type = "log"
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class StageEntered(Event):
    """The phase of a grounded answer: planning, searching, judging, answering."""

    type = "stage"
    stage: str


@dataclass(frozen=True, slots=True)
class PlanMade(Event):
    """What will be looked up, in this order; `source` is keyword or llm."""

    type = "plan"
    steps: list[dict[str, Any]]
    source: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    """One step of the plan, and what it found."""

    type = "step"
    index: int
    tool: str
    arguments: dict[str, Any]
    status: str
    result: str
    citations: list[dict[str, Any]]
    tool_call_id: str
    error: str | None = None
    elapsed_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CitationsFound(Event):
    """What the answer that follows may cite; `[n]` in its text points here."""

    type = "citations"
    citations: list[dict[str, Any]]
    message_id: str


@dataclass(frozen=True, slots=True)
class UsageReported(Event):
    """Tokens of one LLM call; null: the provider did not say.

    `context_used` of `context_limit` tokens (estimated) is what the call was sent.
    """

    type = "usage"
    model: str
    operation: str
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    context_used: int | None = None
    context_limit: int | None = None

    def fields(self) -> dict[str, Any]:
        return self._all_fields()


@dataclass(frozen=True, slots=True)
class TitleChanged(Event):
    type = "title"
    title: str


@dataclass(frozen=True, slots=True)
class ApprovalRequired(Event):
    """A person has to decide on these calls; until then nobody works on the run."""

    type = "approval_required"
    approvals: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ApprovalResolved(Event):
    """These calls are decided, or no longer to be decided."""

    type = "approval_resolved"
    approvals: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The run failed; `error` is safe to show."""

    type = "error"
    error: str
    code: str


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    type = "stopped"
    reason: str


@dataclass(frozen=True, slots=True)
class Done(Event):
    """Always the last event of a run.

    The last fields belong to a grounded answer; `declined` says why there is none.
    """

    type = "done"
    status: str
    reason: str
    usage: dict[str, int | None] | None = None
    supported: bool | None = None
    confidence: str | None = None
    message_id: str | None = None
    citations: list[dict[str, Any]] | None = None
    declined: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot(Event):
    """The whole visible state from rows, where the log no longer reaches back."""

    type = "snapshot"
    run: dict[str, Any]
    title: str
    messages: list[dict[str, Any]]
    tool_calls: list[dict[str, Any]]
    approvals: list[dict[str, Any]]


EVENT_TYPES: dict[str, type[Event]] = {
    kind.type: kind for kind in Event.__subclasses__()
}


def encode(event: Event, head: dict[str, Any]) -> bytes:
    """One JSON object: type, common fields, the event's own."""
    return orjson.dumps({"type": event.type, **head, **event.fields()})
