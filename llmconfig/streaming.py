"""Asking a model: one function for every kind, one stream of deltas for all."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, AnyMessage, BaseMessage

from llmconfig.deltas import (
    LONGEST_REASON,
    CallPart,
    Delta,
    TextCleaner,
    Usage,
    text_of,
    whole,
)
from llmconfig.payload import REASONING

# What connectors call the reason for an answer's end.
_REASONS = ("finish_reason", "stop_reason", "done_reason")

OnStatus = Callable[[str, str], None]


def ignore_status(status: str, text: str) -> None:
    """For callers who tell nobody."""


async def ask(
    model: BaseChatModel,
    messages: Sequence[AnyMessage],
    tools: Sequence[dict[str, Any]] = (),
    *,
    on_status: OnStatus = ignore_status,
) -> AsyncGenerator[Delta, None]:
    """The model's answer piece by piece. Raises ModelError.

    `tools` are in OpenAI's form; `on_status` hears of waits, in words.
    """
    own = getattr(model, "astream_deltas", None)
    if own is not None:
        async for delta in own(messages, tools, on_status=on_status):
            yield delta
        return
    bound = model.bind_tools(list(tools)) if tools else model
    texts, thoughts = TextCleaner(), TextCleaner()
    async for chunk in bound.astream(list(messages)):
        delta = delta_of_chunk(chunk)
        delta.text = texts.clean(delta.text)
        delta.reasoning = thoughts.clean(delta.reasoning)
        yield delta
    yield Delta(text=texts.finish(), reasoning=thoughts.finish())


def delta_of_chunk(chunk: BaseMessage) -> Delta:
    """From a LangChain model's own chunk."""
    delta = Delta(text=text_of(chunk.content))
    thought = chunk.additional_kwargs.get(REASONING)
    delta.reasoning = thought if isinstance(thought, str) else ""
    told = (chunk.response_metadata.get(key) for key in _REASONS)
    reason = str(next(filter(None, told), ""))
    delta.finish_reason = whole(reason)[:LONGEST_REASON]
    if isinstance(chunk, AIMessageChunk):
        delta.calls = [
            CallPart(
                index=index if isinstance(index := part.get("index"), int) else None,
                id=part.get("id") or "",
                name=part.get("name") or "",
                arguments=part.get("args") or "",
            )
            for part in chunk.tool_call_chunks
        ]
        if chunk.usage_metadata:
            delta.usage = Usage(
                chunk.usage_metadata.get("input_tokens"),
                chunk.usage_metadata.get("output_tokens"),
            )
    return delta
