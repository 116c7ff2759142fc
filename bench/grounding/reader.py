"""A scripted model that misses nothing: what a perfect reader makes of the evidence.

It knows the facts of the question and looks whether the passages it is given state
them. It also cites a passage that does not exist, as models do.
"""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from bench.grounding.questions import Question

_PASSAGE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_INVENTED = "[99]"


class Reader(BaseChatModel):
    question: Any

    @property
    def _llm_type(self) -> str:
        return "reader"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        question: Question = self.question
        passages = _passages(messages[-1].text, question)
        if "[task:gate]" in messages[0].text:
            text = _judged(question, passages)
        else:
            text = _answered(question, passages)
        for piece in re.findall(r".{1,7}", text, re.DOTALL):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        end = {"finish_reason": "stop"}
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", response_metadata=end)
        )


def _passages(prompt: str, question: Question) -> dict[int, str]:
    """Those of the documents that answer, by number."""
    starts = list(_PASSAGE.finditer(prompt))
    ends = [one.start() for one in starts[1:]] + [len(prompt)]
    return {
        int(one[1]): prompt[one.end() : end]
        for one, end in zip(starts, ends, strict=True)
        if one[2].split(" · ")[0] in question.documents
    }


def _judged(question: Question, passages: dict[int, str]) -> str:
    telling = [number for number, text in passages.items() if question.has_fact(text)]
    is_supported = question.is_answered_by("\n".join(passages.values()))
    return json.dumps(
        {
            "supported": is_supported,
            "passages": telling if is_supported else [],
            "confidence": 0.9,
        }
    )


def _answered(question: Question, passages: dict[int, str]) -> str:
    lines = [
        f"{said.strip(' .')} [{number}]{_INVENTED}."
        for number, text in passages.items()
        for said in _SENTENCE.split(text)
        if question.has_fact(said)
    ]
    return "\n".join(lines) or "NO_EVIDENCE"
