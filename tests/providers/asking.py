"""One question to a model, as the agent asks it, and what came of it."""

import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage

from chat.agent.translate import Answer, Assembler, CallPiece, TextPiece
from llmconfig.errors import ModelError
from llmconfig.openai_model import OpenAIModel
from llmconfig.streaming import ask

QUESTION: list[AnyMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Why can't PC1 reach PC2?"),
]


@dataclass
class Outcome:
    """The answer, and all that was told on the way."""

    answer: Answer
    error: ModelError | None = None
    told: str = ""
    nameless_pieces: int = 0
    statuses: list[str] = field(default_factory=list)

    def calls(self) -> list[tuple[str, dict[str, Any] | None]]:
        return [(call.name, call.parsed()) for call in self.answer.calls]


async def put(model: OpenAIModel, messages: list[AnyMessage] | None = None) -> Outcome:
    assembler = Assembler()
    outcome = Outcome(assembler.answer)
    deltas = ask(
        model,
        messages or QUESTION,
        on_status=lambda status, text: outcome.statuses.append(text),
    )
    try:
        async for delta in deltas:
            for piece in assembler.feed(delta):
                match piece:
                    case TextPiece(text):
                        outcome.told += text
                    case CallPiece(call) if not call.name:
                        outcome.nameless_pieces += 1
    except ModelError as error:
        outcome.error = error
    outcome.answer.settle()
    return outcome


def followed_up(answer: Answer) -> list[AnyMessage]:
    """The conversation after the answer, its calls done, and one more question."""
    results = [
        ToolMessage([{"type": "text", "text": "done"}], tool_call_id=call.id)
        for call in answer.calls
    ]
    next_question = [] if results else [HumanMessage("And now?")]
    return [*QUESTION, answer.as_message("m1"), *results, *next_question]


def as_text(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)
