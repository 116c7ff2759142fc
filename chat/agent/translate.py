"""A model's deltas → text, reasoning and tool calls, by rules that hold for any server.

Everything is keyed by the call's id. Arguments stay the raw text that the model wrote
and count only if that parses as a JSON object; nothing is repaired.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage

from llmconfig.deltas import CallPart, Delta, TextCleaner, Usage, storable
from llmconfig.payload import CALL_EXTRA, RAW_ARGUMENTS, REASONING
from llmconfig.thinking import ThinkSplitter


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
            # Escapes can spell what no database stores.
            return storable(value) if isinstance(value, dict) else None
        except (ValueError, RecursionError):
            return None


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

    @property
    def has_unparsed_call(self) -> bool:
        """Whether the model wrote a tool call as text; such a call is never run."""
        if self.calls:
            return False
        is_call = self.finish_reason in ("tool_calls", "function_call")
        return is_call or _is_written_call(self.text) or _has_mark(self.reasoning)

    def settle(self) -> None:
        """At the end: drop what never became a call."""
        self.calls = [call for call in self.calls if call.name]
        is_cut = self.finish_reason not in _WHOLE
        if is_cut and self.calls and not self.calls[-1].arguments.strip():
            # Cut before its arguments, which must not pass for a call without any.
            self.calls.pop()

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


# Reasons that leave no doubt that the last call was written to its end.
_WHOLE = ("stop", "tool_calls", "function_call", "tool_use", "end_turn")
# How models write calls where their server does not understand them.
_CALL_MARKS = re.compile(
    r"<tool_call>|<function=|<function_call|<invoke name=|<\|tool_call|\[TOOL_CALLS\]"
    r"|<\|python_tag\|>|<｜tool▁call|<\|channel\|>commentary to="
    r"|```call-[0-9a-f]{16}",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_FENCE = re.compile(r"^```\w*\s*|\s*```$")


def _has_mark(text: str) -> bool:
    return bool(_CALL_MARKS.search(text))


def _is_written_call(text: str) -> bool:
    """By its mark, or because nothing but a call's JSON is there."""
    if _has_mark(text):
        return True
    rest = _FENCE.sub("", _THOUGHT.sub("", text).strip())
    if not rest.startswith(("{", "[")):
        return False
    try:
        value = json.loads(rest)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    inner = first.get("function")
    call = inner if isinstance(inner, dict) else first
    has_arguments = any(key in call for key in ("arguments", "parameters"))
    return isinstance(call.get("name"), str) and has_arguments


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
    """Takes deltas one by one; knows the whole answer at the end.

    `taken` ids belong to earlier calls: some servers count from 0 in each answer.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.answer = Answer()
        self._taken = set(taken)
        self._by_index: dict[int, CallRequest] = {}
        self._by_id: dict[tuple[int | None, str], CallRequest] = {}
        self._theirs: dict[str, str] = {}
        self._cleaners: dict[str, TextCleaner] = {}
        self._newest: CallRequest | None = None
        self._thinking = ThinkSplitter()

    def feed(self, delta: Delta) -> Iterator[TextPiece | ReasoningPiece | CallPiece]:
        """What is new in this delta."""
        thought, text = "", ""
        if delta.text:
            thought, text = self._thinking.feed(delta.text)
        if delta.calls or delta.finish_reason:
            # Nothing of the text follows: what was held back belongs to it.
            more_thought, more_text = self._thinking.finish()
            thought, text = thought + more_thought, text + more_text
        if thought := delta.reasoning + thought:
            self.answer.reasoning += thought
            yield ReasoningPiece(thought)
        if text:
            self.answer.text += text
            yield TextPiece(text)
        named: set[str] = set()
        for part in delta.calls:
            call = self._slot(part, named)
            if part.name:
                named.add(call.id)
            self._add(call, part)
            if call.name:
                yield CallPiece(call)
        if delta.finish_reason:
            self.answer.finish_reason = delta.finish_reason
        if delta.usage is not None:
            self.answer.usage = self.answer.usage.updated(delta.usage)

    def _add(self, call: CallRequest, part: CallPart) -> None:
        # An empty name never replaces one that is known; a repeated one adds nothing.
        if part.name[:_LONGEST_NAME] != call.name:
            call.name = (call.name + part.name)[:_LONGEST_NAME]
        call.extra.update(part.extra)
        if call.arguments == part.arguments and _is_object(call.arguments):
            # Said again as a whole.
            return
        if call.arguments == "{}" and part.arguments.startswith("{"):
            # A placeholder that some gateways send ahead of the arguments.
            call.arguments = ""
        call.arguments += self._cleaners[call.id].clean(part.arguments)

    def _slot(self, part: CallPart, named: set[str]) -> CallRequest:
        """The call that a fragment belongs to: by id, by index, or the newest."""
        call = self._known(part)
        if call is not None and self._begins_another(call, part, named):
            call = None
        if call is None:
            call = self._open(part)
        if part.id:
            self._theirs[call.id] = part.id
            self._by_id[part.index, part.id] = call
        if part.index is not None:
            self._by_index[part.index] = call
        self._newest = call
        return call

    def _known(self, part: CallPart) -> CallRequest | None:
        at_index = (
            self._newest if part.index is None else self._by_index.get(part.index)
        )
        if not part.id:
            return at_index
        if part.index is None:
            of_id = [c for (_, id_), c in self._by_id.items() if id_ == part.id]
            call = of_id[-1] if of_id else None
        else:
            call = self._by_id.get((part.index, part.id))
        # An id may come late; but some servers number all calls 0, and there a new
        # id opens a new call.
        is_late = at_index is not None and not self._theirs[at_index.id]
        return call or (at_index if is_late else None)

    def _begins_another(
        self, call: CallRequest, part: CallPart, named: set[str]
    ) -> bool:
        """Whether a name shows that the call has ended, where id and index do not."""
        if not part.name or not call.name:
            return False
        if part.name[:_LONGEST_NAME] != call.name:
            # Before any arguments it may be the rest of a name that was cut.
            return bool(part.id or call.arguments or call.id in named)
        if not part.id and part.index is None and call.id in named:
            # Two entries of one list.
            return True
        is_repeated = part.arguments == call.arguments
        is_placeholder = call.arguments == "{}"
        return (
            bool(part.arguments.strip())
            and not (is_repeated or is_placeholder)
            and _is_object(call.arguments)
        )

    def _open(self, part: CallPart) -> CallRequest:
        # An id that is missing, taken or too long gets one of ours: all is keyed by it.
        is_free = 0 < len(part.id) <= _LONGEST_NAME and part.id not in self._taken
        call = CallRequest(part.id if is_free else f"call_{uuid.uuid4().hex[:24]}")
        self._taken.add(call.id)
        self._theirs[call.id] = part.id
        self._cleaners[call.id] = TextCleaner()
        self.answer.calls.append(call)
        return call


# What the columns for ids and names hold.
_LONGEST_NAME = 255


def _is_object(arguments: str) -> bool:
    """Whether they are whole; looked at only where they may be."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
