"""A chat model that needs no language model: it answers by rules."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from llmconfig.offline.decide import decide
from llmconfig.offline.steps import Answer, Calls, Step
from llmconfig.offline.title import make_title, wants_title

MODEL_NAME = "offline"
CHARACTERS_PER_TOKEN = 4
_WORD = re.compile(r"\S*\s+|\S+|[\u4e00-\u9fff]")
_FRAGMENT = 24


class OfflineChatModel(BaseChatModel):
    """Decides from the messages alone; says that it is not a language model."""

    pace: float = 0.01

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": MODEL_NAME}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(t) for t in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        chunks = list(_chunks(messages, kwargs.get("tools") or []))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole = whole + chunk
        message = AIMessage(
            content=whole.content,
            tool_calls=whole.tool_calls,
            usage_metadata=whole.usage_metadata,
            response_metadata=whole.response_metadata,
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, kwargs.get("tools") or []):
            time.sleep(self.pace)
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        tools = kwargs.get("tools") or []
        # A diagnosis of a large lab computes: other conversations go on meanwhile.
        chunks = await asyncio.to_thread(lambda: list(_chunks(messages, tools)))
        for chunk in chunks:
            await asyncio.sleep(self.pace)
            yield ChatGenerationChunk(message=chunk)


def count_tokens(characters: int) -> int:
    """The stated rule: one token for four characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def _chunks(
    messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
) -> Iterator[AIMessageChunk]:
    step = _next_step(messages, tools)
    written = 0
    if isinstance(step, Answer):
        finish_reason = "stop"
        for word in _WORD.findall(step.text):
            written += len(word)
            yield AIMessageChunk(content=word)
    else:
        finish_reason = "tool_calls"
        for fragment in _fragments(step):
            written += len(fragment["name"] or "") + len(fragment["args"] or "")
            yield AIMessageChunk(content="", tool_call_chunks=[fragment])
    usage = _usage(_length(messages), written)
    yield AIMessageChunk(
        content="",
        usage_metadata=usage,
        response_metadata={"finish_reason": finish_reason, "model_name": MODEL_NAME},
        chunk_position="last",
    )


def _next_step(
    messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
) -> Step:
    if wants_title(messages):
        return Answer(make_title(messages))
    return decide(messages, frozenset(tool["function"]["name"] for tool in tools))


def _fragments(step: Calls) -> Iterator[ToolCallChunk]:
    """Each call's name first, then its arguments in pieces."""
    for index, call in enumerate(step.calls):
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        call_id = f"call_{uuid4().hex}"
        yield tool_call_chunk(name=call.tool, args="", id=call_id, index=index)
        for start in range(0, len(arguments), _FRAGMENT):
            piece = arguments[start : start + _FRAGMENT]
            yield tool_call_chunk(name=None, args=piece, id=None, index=index)


def _length(messages: Sequence[BaseMessage]) -> int:
    """Characters read: texts and the arguments of earlier tool calls."""
    total = 0
    for message in messages:
        total += len(message.text)
        for call in message.tool_calls if isinstance(message, AIMessage) else []:
            total += len(call["name"]) + len(json.dumps(call["args"], default=str))
    return total


def _usage(read: int, written: int) -> UsageMetadata:
    input_tokens, output_tokens = count_tokens(read), count_tokens(written)
    return UsageMetadata(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
    )
