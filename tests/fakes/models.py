"""Chat models that say what they are told, in process."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

Chunks = Sequence[AIMessageChunk | Exception]


def text(*pieces: str, reason: str = "stop") -> list[AIMessageChunk]:
    return [*(AIMessageChunk(content=piece) for piece in pieces), end(reason)]


def end(reason: str = "stop") -> AIMessageChunk:
    return AIMessageChunk(content="", response_metadata={"finish_reason": reason})


def piece(
    *,
    index: int | None = 0,
    id: str | None = None,
    name: str | None = None,
    args: str | None = None,
) -> AIMessageChunk:
    """A fragment of a tool call, as a server sends it."""
    fragment = {"index": index, "id": id, "name": name, "args": args}
    return AIMessageChunk(
        content="", tool_call_chunks=[{**fragment, "type": "tool_call_chunk"}]
    )


def call(name: str, args: str = "{}", *, id: str, index: int = 0) -> AIMessageChunk:
    return piece(index=index, id=id, name=name, args=args)


class ScriptedModel(BaseChatModel):
    """One list of chunks per request, the last repeats; an exception is raised."""

    answers: list[Any]
    seen: list[list[BaseMessage]] = []
    bound: list[Any] = []

    def __init__(self, *answers: Chunks) -> None:
        super().__init__(answers=[list(answer) for answer in answers], seen=[])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedModel":
        self.bound = list(tools)
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        raise NotImplementedError

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append(list(messages))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for chunk in answer:
            if isinstance(chunk, Exception):
                raise chunk
            yield ChatGenerationChunk(message=chunk)
