"""What the grounded graph works on, and what a run lends it. Plain Python."""

import operator
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from chat.agent.grounded.steps import Plan
from chat.agent.state import Context, ToolResult
from chat.agent.translate import Answer, CallRequest

Stage = Literal["planning", "searching", "judging", "answering"]
# The LLM calls that are no answer, by their operation on the ledger.
Operation = Literal["planning", "gate", "chat"]


class GroundedState(TypedDict):
    """`trace`: the finished steps in their order; `verdict`: the gate's decision."""

    messages: Annotated[list[AnyMessage], add_messages]
    trace: Annotated[list[dict[str, Any]], operator.add]
    verdict: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run: an answer with what it rests on, or why there is none."""

    text: str
    is_supported: bool
    confidence: str | None = None
    citations: Sequence[Mapping[str, Any]] = ()
    tools: Sequence[str] = ()
    declined: Mapping[str, Any] | None = None
    finish_reason: str = "stop"

    def as_metadata(self) -> dict[str, Any]:
        """As the stored message has it."""
        metadata: dict[str, Any] = {
            "supported": self.is_supported,
            "confidence": self.confidence,
            "citations": [dict(citation) for citation in self.citations],
            "tools": list(self.tools),
        }
        if self.declined is not None:
            metadata["declined"] = dict(self.declined)
        return metadata


class GroundedJournal(Protocol):
    """Where the graph reports what happens: rows first, then events."""

    def stage(self, stage: Stage) -> None: ...

    async def plan_stored(self, plan: Plan) -> list[CallRequest]:
        """Store the plan as a message with one call a step."""

    async def tool_started(self, call: CallRequest) -> ToolResult | None:
        """Record the start; the stored result if this step has finished before."""

    async def step_finished(
        self, index: int, call: CallRequest, result: ToolResult
    ) -> None: ...

    async def call_started(self, operation: Operation) -> Any:
        """Put an LLM call on the ledger; returns its entry."""

    async def call_ended(self, entry: Any, answer: Answer, code: str) -> None:
        """Write what it came to; `code` is empty where it went well."""

    async def answer_started(self) -> str:
        """Reserve the answer's message; returns its id."""

    def citations(self, message_id: str, citations: Sequence[Any]) -> None:
        """What the answer may cite; before its first piece of text."""

    def text(self, message_id: str, piece: str) -> None: ...

    async def answer_finished(self, message_id: str, outcome: Outcome) -> None:
        """Store the answer, or why there is none, with all it rests on."""

    async def answer_failed(self, message_id: str, text: str, code: str) -> None:
        """Keep what was said so far."""

    def status(self, status: str, text: str) -> None: ...


# The model that plans and judges; None: the run's own. Carries keys, as that does.
current_planner: ContextVar[BaseChatModel | None] = ContextVar("planner", default=None)


@dataclass
class GroundedContext(Context):
    """What a run lends its graph; holds nothing that must stay secret."""

    grounded: GroundedJournal = field(kw_only=True)
    now: datetime = field(kw_only=True)
    is_offline: bool = True
    planner: str = "keyword"
    planning_seconds: float = 20.0
    # Ids of passages that the answer before has cited.
    cited_before: frozenset[str] = frozenset()
