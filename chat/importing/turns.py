"""Messages of the source → turns as history has them: strings, calls, results."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from chat.importing.decoding import Named
from chat.importing.plain import moment, storable, storable_text, tokens

Role = Literal["user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_THOUGHTS = {"thinking": "thinking", "reasoning": "reasoning"}
_CALLS = {"tool_use", "tool_call", "input_json_delta", "function_call"}


@dataclass
class Call:
    """A tool call as the model wrote it."""

    call_id: str
    name: str
    arguments: str
    is_valid: bool = True


@dataclass
class Turn:
    """One message that is kept."""

    position: int
    source_id: str
    role: Role
    content: str
    reasoning: str = ""
    name: str = ""
    tool_call_id: str = ""
    finish_reason: str = ""
    model: str = ""
    is_error: bool = False
    calls: list[Call] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    created_at: datetime | None = None


def turn_of(position: int, message: Any) -> Turn | None:
    """None for what no history holds: system prompts, unknown kinds."""
    data = message.data if isinstance(message, Named) else message
    if not isinstance(data, dict):
        return None
    role = _role_of(data, message.name if isinstance(message, Named) else "")
    if role is None:
        return None
    content, reasoning = _texts(data.get("content"))
    turn = Turn(
        position=position,
        source_id=_text(data.get("id")),
        role=role,
        content=content,
        name=_text(data.get("name")) if role == "tool" else "",
        tool_call_id=_text(data.get("tool_call_id")) if role == "tool" else "",
        created_at=_time_of(data),
    )
    if role == "tool":
        turn.is_error = data.get("status") == "error" or content.startswith("Error:")
    if role == "assistant":
        extra, answer = (
            _dict(data, "additional_kwargs"),
            _dict(data, "response_metadata"),
        )
        turn.reasoning = reasoning or _text(extra.get("reasoning_content"))
        turn.calls = _calls_of(data, extra)
        turn.finish_reason = _text(answer.get("finish_reason"))
        turn.model = _text(answer.get("model_name") or answer.get("model"))
        usage = _dict(data, "usage_metadata")
        turn.input_tokens = tokens(usage.get("input_tokens"))
        turn.output_tokens = tokens(usage.get("output_tokens"))
    return turn


def _role_of(data: dict[Any, Any], name: str) -> Role | None:
    kinds = (data.get("type"), data.get("role"), name)
    for kind in kinds:
        plain = str(kind or "").removesuffix("Chunk").removesuffix("Message").lower()
        if plain in _ROLES:
            return _ROLES[plain]
    return None


def _texts(content: Any) -> tuple[str, str]:
    """Text blocks joined and thoughts apart; any other structure as indented JSON."""
    if isinstance(content, str | None):
        return storable_text(content or ""), ""
    blocks = content if isinstance(content, list) else [content]
    texts: list[str] = []
    thoughts: list[str] = []
    for block in blocks:
        match block:
            case str():
                texts.append(block)
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "thinking" | "reasoning" as kind}:
                thoughts.append(_text(block.get(_THOUGHTS[str(kind)])))
            case {"type": str(kind)} if kind in _CALLS:
                pass
            case _:
                return storable_text(_json(content, indent=2)), ""
    return storable_text("".join(texts)), "".join(thoughts)


def _calls_of(data: dict[Any, Any], extra: dict[Any, Any]) -> list[Call]:
    found = [
        Call(_text(call.get("id")), _text(call.get("name")), _arguments(call["args"]))
        for call in _list(data, "tool_calls")
        if isinstance(call, dict) and "args" in call
    ]
    found += [
        Call(
            _text(call.get("id")),
            _text(call.get("name")),
            _arguments(call.get("args")),
            is_valid=False,
        )
        for call in _list(data, "invalid_tool_calls")
        if isinstance(call, dict)
    ]
    if found:
        return found
    # Older versions kept the provider's own form only.
    return [
        Call(
            _text(call.get("id")),
            _text(_dict(call, "function").get("name")),
            _arguments(_dict(call, "function").get("arguments")),
        )
        for call in _list(extra, "tool_calls")
        if isinstance(call, dict)
    ]


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return storable_text(value)
    return storable_text(_json({} if value is None else value))


def _time_of(data: dict[Any, Any]) -> datetime | None:
    for name in ("metadata", "additional_kwargs", "response_metadata"):
        if found := moment(_dict(data, name).get("created_at")):
            return found
    return None


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(storable(value), ensure_ascii=False, indent=indent)


def _text(value: Any) -> str:
    return storable_text(value) if isinstance(value, str) else ""


def _dict(data: dict[Any, Any], name: str) -> dict[Any, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _list(data: dict[Any, Any], name: str) -> list[Any]:
    found = data.get(name)
    return found if isinstance(found, list) else []
