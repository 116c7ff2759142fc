"""A model's deltas → text, reasoning and tool calls, by rules that hold for any server.

Everything is keyed by the call's id. Arguments stay the raw text that the model wrote
and count only if that parses as a JSON object; nothing is repaired.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage

from llmconfig.deltas import CallPart, Delta, Usage
from llmconfig.payload import CALL_EXTRA, RAW_ARGUMENTS, REASONING


@dataclass
class CallRequest:
    """A tool call as the model wrote it."""

    id: str
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

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
        return assistant_message(message_id, self.text, self.reasoning, self.calls)


def assistant_message(
    message_id: str, text: str, reasoning: str, calls: Sequence[CallRequest]
) -> AIMessage:
    """With what only its provider understands, for the way back."""
    kept: dict[str, Any] = {}
    if reasoning:
        kept[REASONING] = reasoning
    if raw := {call.id: call.arguments for call in calls if call.parsed()}:
        kept[RAW_ARGUMENTS] = raw
    if extra := {call.id: call.extra for call in calls if call.extra}:
        kept[CALL_EXTRA] = extra
    return AIMessage(
        content=text,
        id=message_id,
        additional_kwargs=kept,
        tool_calls=[
            {
                "id": call.id,
                "name": call.name,
                "args": call.parsed() or {},
                "type": "tool_call",
            }
            for call in calls
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
    """Takes deltas one by one; knows the whole answer at the end."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._by_index: dict[int, CallRequest] = {}
        self._by_id: dict[str, CallRequest] = {}
        self._theirs: dict[str, str] = {}
        self._newest: CallRequest | None = None

    def feed(self, delta: Delta) -> Iterator[TextPiece | ReasoningPiece | CallPiece]:
        """What is new in this delta."""
        if delta.reasoning:
            self.answer.reasoning += delta.reasoning
            yield ReasoningPiece(delta.reasoning)
        if delta.text:
            self.answer.text += delta.text
            yield TextPiece(delta.text)
        for part in delta.calls:
            call = self._slot(part)
            # An empty name never replaces one that is known.
            call.name = call.name or part.name
            call.arguments += part.arguments
            call.extra.update(part.extra)
            if call.name:
                yield CallPiece(call)
        if delta.finish_reason:
            self.answer.finish_reason = delta.finish_reason
        if delta.usage is not None:
            # The last report counts: some servers report a running total.
            self.answer.usage = delta.usage

    def _slot(self, part: CallPart) -> CallRequest:
        """The call that a fragment belongs to: by index, by id, or the newest."""
        call = (
            self._by_id.get(part.id)
            if part.index is None and part.id
            else self._newest
            if part.index is None
            else self._by_index.get(part.index)
        )
        if call is not None and part.id:
            theirs = self._theirs.get(call.id) or part.id
            # Some servers number all calls 0: a new id opens a new call.
            if theirs != part.id:
                call = None
            else:
                self._theirs[call.id] = part.id
        if call is None:
            call = self._open(part)
        if part.index is not None:
            self._by_index[part.index] = call
        self._newest = call
        return call

    def _open(self, part: CallPart) -> CallRequest:
        # An id that is missing or taken gets one of ours: all is keyed by it.
        is_free = bool(part.id) and part.id not in self._by_id
        call = CallRequest(part.id if is_free else f"call_{uuid.uuid4().hex[:24]}")
        self._theirs[call.id] = part.id
        if part.id:
            self._by_id[part.id] = call
        self.answer.calls.append(call)
        return call
