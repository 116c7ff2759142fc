"""What the graph works on: its state, and what a run lends it. Plain Python."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, Protocol, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from chat.agent.citations import Registry
from chat.agent.tools.base import Tool
from chat.agent.tools.kit import NOTHING, Kit
from chat.agent.translate import Answer, CallRequest
from llmconfig.window import Fit, Window, unlimited


class State(TypedDict):
    """The run's window of the conversation; the system prompt is never in it."""

    messages: Annotated[list[AnyMessage], add_messages]
    steps: int
    # What the gate found: a person has to decide first; calls that may not run.
    is_waiting: NotRequired[bool]
    refusals: NotRequired[dict[str, str]]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call came to; `evidence` is what an answer may cite of it."""

    output: str
    is_error: bool
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Consent:
    """What is recorded of a call's approval, and the state that it is bound to."""

    is_given: bool
    state: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A call to be decided on: what the person is shown, and the state before."""

    call_id: str
    proposal: dict[str, Any]
    state: dict[str, str]


class Journal(Protocol):
    """Where the graph reports what happens: rows first, then events."""

    async def model_started(self) -> str:
        """Reserve the answer's message; returns its id."""

    def text(self, message_id: str, piece: str) -> None: ...

    def reasoning(self, message_id: str, piece: str) -> None: ...

    def call_written(
        self, message_id: str, call: CallRequest, *, is_complete: bool
    ) -> None: ...

    def window(self, window: Window) -> None:
        """What the next request will hold."""

    async def model_finished(self, message_id: str, answer: Answer) -> None:
        """Store the answer, its calls and its tokens."""

    async def model_failed(self, message_id: str, answer: Answer, code: str) -> None:
        """Keep what was said so far."""

    async def tool_started(self, call: CallRequest) -> ToolResult | None:
        """Record the start; the stored result if this call has finished before."""

    async def tool_finished(self, call: CallRequest, result: ToolResult) -> None: ...

    def consents(self) -> Mapping[str, Consent]:
        """By call: decisions asked for, and those made for it to run."""

    async def wait_for_approval(
        self, asked: Sequence[Asked], expired: Mapping[str, str]
    ) -> None:
        """Record what a person has to decide, and let go of the run.

        `expired` says of calls, approved before, why that no longer counts.
        """

    def raw_arguments(self, call_id: str) -> str:
        """The call's arguments as the model wrote them."""

    def status(self, status: str, text: str) -> None: ...


@dataclass
class Context:
    """What a run lends its graph; holds nothing that must stay secret."""

    journal: Journal
    tools: dict[str, Tool[Any]]
    system_prompt: Callable[[], Awaitable[str]]
    step_limit: int
    output_limit: int
    may_change: bool = False
    shows_reasoning: bool = True
    # "ask": a person decides on changes; "never_change"; "trust": nobody is asked.
    approval: str = "ask"
    fit: Fit = unlimited
    masked: Callable[[str], str] = str
    tool_seconds: float = 180.0
    registry: Registry = field(default_factory=Registry)
    # Changes of one step run in the order in which the model wrote them.
    turns: dict[str, Any] = field(default_factory=dict)


# Model and kit carry keys: they live here while a run lasts, never in the state.
current_model: ContextVar[BaseChatModel | None] = ContextVar("model", default=None)
current_kit: ContextVar[Kit] = ContextVar("kit", default=NOTHING)
