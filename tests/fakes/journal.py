"""A journal that remembers what the graph reported, without rows or events."""

from collections.abc import Mapping, Sequence
from typing import Any

from chat.agent.state import Asked, Consent, ToolResult
from chat.agent.translate import Answer, CallRequest
from llmconfig.window import Window


class MemoryJournal:
    def __init__(self, stored: dict[str, ToolResult] | None = None) -> None:
        self.stored = stored or {}
        self.reports: list[tuple[str, Any]] = []
        self.answers: list[Answer] = []
        self.results: dict[str, ToolResult] = {}
        self.texts: list[str] = []
        self.windows: list[Window] = []
        self.known: dict[str, Consent] = {}
        self.asked: list[Asked] = []
        self.expired: dict[str, str] = {}
        self._raw: dict[str, str] = {}
        self._number = 0

    async def model_started(self) -> str:
        self._number += 1
        return f"m{self._number}"

    def text(self, message_id: str, piece: str) -> None:
        self.texts.append(piece)

    def reasoning(self, message_id: str, piece: str) -> None:
        self.reports.append(("reasoning", piece))

    def call_written(
        self, message_id: str, call: CallRequest, *, is_complete: bool
    ) -> None:
        if is_complete:
            self.reports.append(("complete", call.id))

    async def model_finished(self, message_id: str, answer: Answer) -> None:
        self.answers.append(answer)
        self._raw.update({call.id: call.arguments for call in answer.calls})

    async def model_failed(self, message_id: str, answer: Answer, code: str) -> None:
        self.reports.append(("model_failed", code))
        self.answers.append(answer)

    async def tool_started(self, call: CallRequest) -> ToolResult | None:
        if call.id in self.stored:
            return self.stored[call.id]
        self.reports.append(("started", call.id))
        return None

    async def tool_finished(self, call: CallRequest, result: ToolResult) -> None:
        self.reports.append(("finished", call.id))
        self.results[call.id] = result

    def window(self, window: Window) -> None:
        self.windows.append(window)

    def consents(self) -> Mapping[str, Consent]:
        return self.known

    async def wait_for_approval(
        self, asked: Sequence[Asked], expired: Mapping[str, str]
    ) -> None:
        self.asked += asked
        self.expired |= expired

    def raw_arguments(self, call_id: str) -> str:
        return self._raw[call_id]

    def status(self, status: str, text: str) -> None:
        self.reports.append(("status", status))

    # --- As `llmconfig.fallback.Reports` ------------------------------------------

    async def fell_back(self, place: int, code: str, text: str) -> None:
        self.reports.append(("fell_back", (place, code)))

    async def cannot_call(self, place: int, text: str, *, is_new: bool) -> None:
        self.reports.append(("cannot_call", (place, is_new)))
