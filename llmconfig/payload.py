"""LangChain's messages → what any OpenAI-compatible server accepts.

Text is one string, never null; only a question with pictures is a list of parts. A
blank assistant turn, and a call without its result, would be refused by some server and
are not sent.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from llmconfig.deltas import text_of, whole
from llmconfig.images import IMAGE_URL

# Where an AIMessage keeps what its provider alone understands, by call id.
CALL_EXTRA = "call_extra"
RAW_ARGUMENTS = "raw_arguments"
REASONING = "reasoning_content"

_UNANSWERED = "This call was not carried out."


def chat_messages(
    messages: Iterable[AnyMessage],
    *,
    sends_reasoning: bool = False,
) -> list[dict[str, Any]]:
    """In order; ids that occur twice are told apart, as servers pair by id."""
    messages = list(messages)
    sent: list[dict[str, Any]] = []
    open_ids: dict[str, str] = {}
    seen: set[str] = set()
    for message in messages:
        if not isinstance(message, ToolMessage):
            sent.extend(_closed(open_ids))
        match message:
            case SystemMessage():
                sent.append({"role": "system", "content": _text(message)})
            case HumanMessage():
                sent.append({"role": "user", "content": _question(message)})
            case AIMessage():
                turn = _assistant(message, seen, open_ids)
                if sends_reasoning and (
                    thought := message.additional_kwargs.get(REASONING)
                ):
                    turn[REASONING] = thought
                if "tool_calls" in turn or turn.get("content"):
                    sent.append(turn)
            case ToolMessage():
                sent_id = open_ids.pop(message.tool_call_id, None)
                # A result without its call is refused everywhere.
                if sent_id is not None:
                    content = _text(message) or "(no output)"
                    sent.append(
                        {"role": "tool", "tool_call_id": sent_id, "content": content}
                    )
    sent.extend(_closed(open_ids))
    return sent


def _assistant(
    message: AIMessage, seen: set[str], open_ids: dict[str, str]
) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": "assistant", "content": _text(message)}
    calls = []
    extras = message.additional_kwargs.get(CALL_EXTRA, {})
    raw = message.additional_kwargs.get(RAW_ARGUMENTS, {})
    for call in message.tool_calls:
        call_id = call["id"] or ""
        sent_id, number = call_id, 1
        while sent_id in seen:
            number += 1
            sent_id = f"{call_id}_{number}"
        seen.add(sent_id)
        open_ids[call_id] = sent_id
        arguments = raw.get(call_id) or orjson.dumps(call["args"]).decode()
        extra = dict(extras.get(call_id, {}))
        inner = extra.pop("function", {})
        calls.append(
            {
                **extra,
                "id": sent_id,
                "type": "function",
                "function": {**inner, "name": call["name"], "arguments": arguments},
            }
        )
    if calls:
        turn["tool_calls"] = calls
    return turn


def _closed(open_ids: dict[str, str]) -> Sequence[dict[str, Any]]:
    """Results for calls that have none: their turn is over."""
    closing = [
        {"role": "tool", "tool_call_id": sent_id, "content": _UNANSWERED}
        for sent_id in open_ids.values()
    ]
    open_ids.clear()
    return closing


def _question(message: HumanMessage) -> str | list[dict[str, Any]]:
    text = _text(message) or " "
    pictures = [
        part
        for part in (message.content if isinstance(message.content, list) else ())
        if isinstance(part, dict) and part.get("type") == IMAGE_URL
    ]
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def _text(message: AnyMessage) -> str:
    return whole(text_of(message.content))
