"""LangChain's messages and OpenAI's, both ways: a round trip changes nothing."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call

# Ids of messages that came without one are made from what they say.
_NAMESPACE = uuid.UUID("b0a6f0ae-57d3-4f6b-9f0e-3f7b3c0a7d11")
# Where LangChain has no field of its own for what OpenAI's format carries.
_KEPT = ("created_at", "metadata")
_WRITTEN = "written_arguments"
_ROLES = {"developer": "system", "human": "user", "ai": "assistant", "function": "tool"}


class ConversionError(ValueError):
    """A message that the other format cannot say."""


def openai_messages(
    messages: Iterable[BaseMessage], *, created_at: str = ""
) -> list[dict[str, Any]]:
    """A conversation; equal messages without id get ids of their own."""
    return [
        openai_from_langchain(message, place=place, created_at=created_at)
        for place, message in enumerate(messages)
    ]


def openai_from_langchain(
    message: BaseMessage, *, place: int = 0, created_at: str = ""
) -> dict[str, Any]:
    """Text, ids and links stay. Raises ConversionError for an unknown role."""
    extra = message.additional_kwargs
    turn: dict[str, Any] = {
        "id": message.id or "",
        "role": _role(message),
        "content": as_text(message.content),
        "created_at": extra.get("created_at", created_at),
    }
    if message.name:
        turn["name"] = message.name
    if isinstance(message, ToolMessage):
        turn["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage) and (calls := _calls_of(message)):
        turn["tool_calls"] = calls
    if "metadata" in extra:
        turn["metadata"] = extra["metadata"]
    turn["id"] = turn["id"] or _stable_id(turn, place)
    return turn


def langchain_messages(turns: Iterable[Mapping[str, Any]]) -> list[BaseMessage]:
    return [langchain_from_openai(turn, place=at) for at, turn in enumerate(turns)]


def langchain_from_openai(turn: Mapping[str, Any], *, place: int = 0) -> BaseMessage:
    """The inverse. Raises ConversionError for an unknown role or a lost link."""
    role = _known_role(turn.get("role"))
    content = as_text(turn.get("content"))
    extra = {key: turn[key] for key in _KEPT if turn.get(key)}
    common: dict[str, Any] = {
        "id": turn.get("id") or _stable_id(turn, place),
        "name": turn.get("name"),
        "additional_kwargs": extra,
    }
    match role:
        case "user":
            return HumanMessage(content, **common)
        case "system":
            return SystemMessage(content, **common)
        case "tool":
            call_id = turn.get("tool_call_id")
            if not isinstance(call_id, str):
                raise ConversionError("A tool message without tool_call_id.")
            return ToolMessage(content, tool_call_id=call_id, **common)
        case _:
            return _assistant(content, turn.get("tool_calls") or [], common)


def openai_tool_call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    """Arguments as JSON text: an object is encoded, text is taken as it is."""
    written = arguments if isinstance(arguments, str) else as_text(arguments or {})
    function = {"name": name, "arguments": written or "{}"}
    return {"id": call_id, "type": "function", "function": function}


def as_text(content: Any) -> str:
    """Text as it is, nothing as nothing, all else as JSON text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, default=str)


def _role(message: BaseMessage) -> str:
    match message:
        case ChatMessage():
            return _known_role(message.role)
        case HumanMessage():
            return "user"
        case AIMessage():
            return "assistant"
        case SystemMessage():
            return "system"
        case ToolMessage() | FunctionMessage():
            return "tool"
    raise ConversionError(f"No role for a message of type {message.type!r}.")


def _known_role(role: Any) -> str:
    known = _ROLES.get(role, role) if isinstance(role, str) else role
    if known not in ("user", "assistant", "system", "tool"):
        raise ConversionError(f"Unknown role {str(role)[:40]!r}.")
    return str(known)


def _calls_of(message: AIMessage) -> list[dict[str, Any]]:
    """In the order they were written in, those that do not parse among them."""
    written: dict[str, str] = message.additional_kwargs.get(_WRITTEN, {})
    calls = [
        openai_tool_call(
            call["id"] or _call_id(message, place),
            call["name"] or "",
            written.get(str(place), call["args"]),
        )
        for place, call in enumerate([*message.tool_calls, *message.invalid_tool_calls])
    ]
    order: Sequence[int] = message.additional_kwargs.get("call_order", ())
    if sorted(order) == list(range(len(calls))):
        return [calls[place] for place in order]
    return calls


def _call_id(message: AIMessage, place: int) -> str:
    seed = json.dumps([message.id, message.content, place], default=str)
    return f"call_{uuid.uuid5(_NAMESPACE, seed).hex}"


def _assistant(
    content: str, calls: Sequence[Mapping[str, Any]], common: dict[str, Any]
) -> AIMessage:
    valid, invalid, places = [], [], []
    written: dict[bool, list[str]] = {True: [], False: []}
    for call in calls:
        function = call["function"]
        text = as_text(function.get("arguments"))
        arguments = _parsed(text)
        if arguments is not None:
            valid.append(
                tool_call(name=function["name"], args=arguments, id=call.get("id"))
            )
        else:
            invalid.append(
                invalid_tool_call(
                    name=function["name"], args=text, id=call.get("id"), error=None
                )
            )
        written[arguments is not None].append(text)
        places.append(arguments is not None)
    extra = common["additional_kwargs"]
    # Spaces, order and numbers as the model wrote them, where ours would differ.
    if kept := {
        str(place): text
        for place, (text, call) in enumerate(zip(written[True], valid, strict=True))
        if as_text(call["args"]) != text
    }:
        extra[_WRITTEN] = kept
    if invalid and valid:
        counters = {True: iter(range(len(valid))), False: iter(range(len(invalid)))}
        extra["call_order"] = [
            next(counters[is_valid]) + (0 if is_valid else len(valid))
            for is_valid in places
        ]
    return AIMessage(content, tool_calls=valid, invalid_tool_calls=invalid, **common)


def _parsed(text: str) -> dict[str, Any] | None:
    """Strictly: no repaired or partial JSON. Nothing at all is an empty object."""
    try:
        value = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _stable_id(turn: Mapping[str, Any], place: int) -> str:
    """The same at every reading of the same message at the same place."""
    said = [turn.get(key) for key in ("role", "content", "name", "tool_call_id")]
    seed = json.dumps([place, *said, turn.get("tool_calls")], default=str)
    return str(uuid.uuid5(_NAMESPACE, seed))
