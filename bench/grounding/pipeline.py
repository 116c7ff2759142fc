"""A question through the grounded agent's graph: its outcome and what it rests on."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from bench.grounding.questions import Question
from bench.grounding.reader import Reader


@dataclass(frozen=True, slots=True)
class Answered:
    question: Question
    text: str
    is_supported: bool
    confidence: str | None
    # The gate's, from 0 to 1.
    score: float
    citations: Sequence[Mapping[str, Any]]
    seconds: float


class Journal:
    """Keeps the plan and the outcome; there is nobody to report to."""

    def __init__(self) -> None:
        self.outcome: Any = None
        self._arguments: dict[str, str] = {}

    def stage(self, stage: str) -> None:
        pass

    def status(self, status: str, text: str) -> None:
        pass

    def citations(self, message_id: str, citations: Sequence[Any]) -> None:
        pass

    def text(self, message_id: str, piece: str) -> None:
        pass

    async def plan_stored(self, plan: Any) -> list[Any]:
        from chat.agent.translate import CallRequest

        calls = [
            CallRequest(f"call-{at}", step.tool, json.dumps(dict(step.arguments)))
            for at, step in enumerate(plan.steps)
        ]
        self._arguments = {call.id: call.arguments for call in calls}
        return calls

    def raw_arguments(self, call_id: str) -> str:
        return self._arguments[call_id]

    async def tool_started(self, call: Any) -> None:
        pass

    async def step_finished(self, index: int, call: Any, result: Any) -> None:
        assert not result.is_error, result.output

    async def call_started(self, operation: str) -> None:
        pass

    async def call_ended(self, entry: Any, answer: Any, code: str) -> None:
        pass

    async def answer_started(self) -> str:
        return "answer"

    async def answer_finished(self, message_id: str, outcome: Any) -> None:
        self.outcome = outcome

    async def answer_failed(self, message_id: str, text: str, code: str) -> None:
        raise AssertionError(code)


async def answer(question: Question, *, is_offline: bool) -> Answered:
    from chat.agent.grounded.graph import build_grounded_graph
    from chat.agent.grounded.state import GroundedContext
    from chat.agent.state import current_kit, current_model
    from chat.agent.tools import offered
    from chat.agent.tools.kit import Kit
    from chat.knowledge.models import Collection
    from chat.knowledge.service import CollectionSearch

    readable = Collection.objects.filter(name__in=question.collections)
    kit, journal = Kit(knowledge=CollectionSearch(readable)), Journal()
    context = GroundedContext(
        journal=journal,  # type: ignore[arg-type] # what a plan needs of one
        grounded=journal,
        tools=offered(["search_documents"], kit),
        system_prompt=_prompt,
        step_limit=25,
        output_limit=20_000,
        now=datetime(2026, 10, 12, 9, 0),
        is_offline=is_offline,
    )
    current_kit.set(kit)
    current_model.set(None if is_offline else Reader(question=question))
    start = time.perf_counter()
    state = await build_grounded_graph().ainvoke(
        {"messages": _messages(question), "trace": [], "verdict": {}}, context=context
    )
    outcome = journal.outcome
    return Answered(
        question,
        outcome.text,
        outcome.is_supported,
        outcome.confidence,
        float(state["verdict"].get("score", 0.0)),
        outcome.citations,
        time.perf_counter() - start,
    )


async def _prompt() -> str:
    return "You answer questions about this institution from its documents."


def _messages(question: Question) -> list[AnyMessage]:
    said: list[AnyMessage] = [
        HumanMessage(text) if role == "user" else AIMessage(text)
        for role, text in question.history
    ]
    return [*said, HumanMessage(question.text)]
