"""Asking a model for the answer: held back until it cites, cleaned while it streams."""

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from chat.agent.citing import MarkFilter, marked
from chat.agent.grounded.fence import RULE, fenced, new_fence, passages_text
from chat.agent.grounded.planner import Turn
from chat.agent.translate import Assembler, TextPiece
from llmconfig.errors import ModelOverflow, ModelStreamCut
from llmconfig.streaming import OnStatus, ask
from llmconfig.window import Fit

Citation = Mapping[str, Any]

NO_EVIDENCE = "NO_EVIDENCE"
_PROMPT = """\
{instructions}
Answer the question from the numbered passages, and from nothing else.
Put the number of its passage behind every statement, as [2]; every sentence needs \
one. Never cite a number that is not there. Facts are context: use them to understand, \
never cite them, and state nothing that stands in them alone.
If the passages do not answer the question, write {no_evidence} and nothing else.
{rule}Answer in the language of the question, briefly, in Markdown. It is {now}.
"""
_AGAIN = (
    "Write the answer again. Every sentence must end with the number of the passage "
    "that states it, such as [{n}]. If no passage states it, leave it out."
)
# Without a mark up to here, it is not going to cite.
_HELD = 1_500
_TURNS = 4
_TURN_LENGTH = 500


@dataclass
class Writing:
    """One answer being written; `text` is what readers have of it."""

    known: Sequence[int]
    text: str = ""
    assembler: Assembler = field(default_factory=Assembler)

    @property
    def is_cited(self) -> bool:
        return bool(marked(self.text))

    async def pieces(
        self,
        model: BaseChatModel,
        messages: Sequence[AnyMessage],
        on_status: OnStatus,
    ) -> AsyncGenerator[str, None]:
        """What may be shown, from the first mark on. Nothing where none comes.

        Raises ModelError.
        """
        marks, held, is_open = MarkFilter(self.known), "", False
        async with contextlib.aclosing(
            ask(model, messages, on_status=on_status)
        ) as deltas:
            async for delta in deltas:
                for piece in self.assembler.feed(delta):
                    if not isinstance(piece, TextPiece):
                        continue
                    held += marks.feed(piece.text)
                    is_open = is_open or _answers(held)
                    if is_open and held:
                        self.text += held
                        yield held
                        held = ""
                if not is_open and len(held) > _HELD:
                    return
        if not self.assembler.answer.finish_reason:
            raise ModelStreamCut
        held += marks.finish()
        if held and (is_open or _answers(held)):
            self.text += held
            yield held


def _answers(text: str) -> bool:
    # Whatever it cites besides: one who says that there is no evidence has none.
    return bool(marked(text)) and NO_EVIDENCE not in text


def answer_prompt(
    question: str,
    history: Sequence[Turn],
    citations: Sequence[Citation],
    facts: Sequence[str],
    *,
    instructions: str,
    now: str,
    fit: Fit,
) -> list[AnyMessage]:
    """With as many passages as the model can read. Raises ModelOverflow."""
    kept = list(citations)
    while True:
        messages = _messages(question, history, kept, facts, instructions, now)
        window = fit(messages, [], 1.0)
        if not (window.overflow or window.shortened):
            return window.messages
        if len(kept) == 1:
            if window.overflow:
                raise ModelOverflow
            return window.messages
        kept = kept[: len(kept) // 2]


def again(messages: Sequence[AnyMessage], number: int) -> list[AnyMessage]:
    """The same once more, for a model that has not cited."""
    return [*messages, HumanMessage(_AGAIN.format(n=number))]


def _messages(
    question: str,
    history: Sequence[Turn],
    citations: Sequence[Citation],
    facts: Sequence[str],
    instructions: str,
    now: str,
) -> list[AnyMessage]:
    fence = new_fence("evidence")
    system = _PROMPT.format(
        instructions=instructions,
        no_evidence=NO_EVIDENCE,
        rule=RULE.format(fence=fence),
        now=now,
    )
    parts = []
    said = "\n".join(
        f"{turn.role}: {turn.text[:_TURN_LENGTH]}" for turn in history[-_TURNS:]
    )
    if said:
        parts.append("Said before:\n" + fenced(fence, said))
    parts.append("Passages:\n" + fenced(fence, passages_text(citations)))
    if facts:
        parts.append("Facts, not to be cited:\n" + fenced(fence, "\n".join(facts)))
    parts.append(f"Question: {question}")
    return [SystemMessage(system.strip()), HumanMessage("\n\n".join(parts))]
