"""What the graph works on: its state, and what a run lends it. Plain Python."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from chat.agent.tools.base import Tool
from chat.agent.tools.kit import NOTHING, Kit
from chat.agent.translate import Answer, CallRequest
from llmconfig.window import Fit, Window, unlimited


class State(TypedDict):
    """The run's window of the conversation; the system prompt is never in it."""

    messages: Annotated[list[AnyMessage], add_messages]
    steps: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call came to."""

    output: str
    is_error: bool


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
    fit: Fit = unlimited
    masked: Callable[[str], str] = str
    tool_seconds: float = 180.0
    # Changes of one step run in the order in which the model wrote them.
    turns: dict[str, Any] = field(default_factory=dict)


# Model and kit carry keys: they live here while a run lasts, never in the state.
current_model: ContextVar[BaseChatModel | None] = ContextVar("model", default=None)
current_kit: ContextVar[Kit] = ContextVar("kit", default=NOTHING)
