"""A model's chunks → text, reasoning and tool calls, by rules that hold for any server.

Everything is keyed by the call's id. Arguments stay the raw text that the model wrote
and count only if that parses as a JSON object; nothing is repaired.
"""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider last reported them; None: unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


@dataclass
class CallRequest:
    """A tool call as the model wrote it."""

    id: str
    name: str = ""
    arguments: str = ""

    def parsed(self) -> dict[str, Any] | None:
        """The arguments, strictly; None if they are no JSON object."""
        if not self.arguments.strip():
            return {}
        try:
            value = json.loads(self.arguments, parse_constant=_refuse)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@dataclass
class Answer:
    """One whole answer of a model."""

    text: str = ""
    reasoning: str = ""
    calls: list[CallRequest] = field(default_factory=list)
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)

    def as_message(self, message_id: str) -> AIMessage:
        """For the graph's state; calls that do not parse carry no arguments."""
        return AIMessage(
            content=self.text,
            id=message_id,
            tool_calls=[
                {
                    "id": call.id,
                    "name": call.name,
                    "args": call.parsed() or {},
                    "type": "tool_call",
                }
                for call in self.calls
            ],
        )


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A call that has grown; its name is known."""

    call: CallRequest


class Assembler:
    """Takes chunks one by one; knows the whole answer at the end."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._slots: dict[Any, CallRequest] = {}
        self._last: CallRequest | None = None

    def feed(
        self, chunk: AIMessageChunk
    ) -> Iterator[TextPiece | ReasoningPiece | CallPiece]:
        """What is new in this chunk."""
        thought = chunk.additional_kwargs.get("reasoning_content")
        if isinstance(thought, str) and thought:
            self.answer.reasoning += thought
            yield ReasoningPiece(thought)
        if text := text_of(chunk.content):
            self.answer.text += text
            yield TextPiece(text)
        for part in chunk.tool_call_chunks:
            call = self._slot(part.get("index"), part.get("id"))
            if part.get("name") and not call.name:
                call.name = str(part["name"])
            call.arguments += part.get("args") or ""
            if call.name:
                yield CallPiece(call)
        if reason := chunk.response_metadata.get("finish_reason"):
            self.answer.finish_reason = str(reason)
        if chunk.usage_metadata:
            self.answer.usage = Usage(
                chunk.usage_metadata.get("input_tokens"),
                chunk.usage_metadata.get("output_tokens"),
            )

    def _slot(self, index: object, call_id: str | None) -> CallRequest:
        key = ("index", index) if index is not None else ("id", call_id)
        call = self._slots.get(key)
        if index is None and not call_id and self._last is not None:
            call = self._last
        # Some servers number all calls 0: a new id opens a new call.
        if call is None or (
            call_id and call_id != call.id and not call.id.startswith(_OWN)
        ):
            call = CallRequest(id=call_id or f"{_OWN}{uuid.uuid4().hex[:24]}")
            if any(call.id == other.id for other in self.answer.calls):
                call.id = f"{_OWN}{uuid.uuid4().hex[:24]}"
            self._slots[key] = call
            self.answer.calls.append(call)
        self._last = call
        return call


_OWN = "call_own_"


def text_of(content: str | list[Any]) -> str:
    """Text content as one string; other parts are left out."""
    if isinstance(content, str):
        return content
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and part.get("type") == "text":
            parts.append(str(part.get("text") or ""))
    return "".join(parts)
