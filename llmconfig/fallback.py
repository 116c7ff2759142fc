"""The model of a run: the chosen one, and where that cannot go on, the next.

What a person should know of it goes to `Reports`. Nothing that was said is said again:
once a model has begun its answer, no other takes over.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from django.utils.translation import gettext
from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from llmconfig.chain import Candidate, Chain
from llmconfig.deltas import Delta, text_of
from llmconfig.errors import (
    ModelError,
    ModelOverflow,
    ModelWithoutTools,
    as_model_error,
)
from llmconfig.images import Images, with_images
from llmconfig.prompted_tools import NO_TOOLS, as_text, ask_prompted
from llmconfig.streaming import OnStatus, ask, ignore_status
from llmconfig.window import Window


class Reports(Protocol):
    """Who hears of what happens between the models; places are those of the chain."""

    def window(self, window: Window) -> None:
        """What the next request will hold."""

    async def fell_back(self, place: int, code: str, text: str) -> None:
        """The request has failed with this code; the model at `place` is asked now."""

    async def cannot_call(self, place: int, text: str, *, is_new: bool) -> None:
        """This model calls no functions; `is_new`: its server has just said so."""


class Unreported:
    """For callers who tell nobody."""

    def window(self, window: Window) -> None: ...

    async def fell_back(self, place: int, code: str, text: str) -> None: ...

    async def cannot_call(self, place: int, text: str, *, is_new: bool) -> None: ...


class FallbackModel(BaseChatModel):
    """Asked like any chat model; makes each conversation fit the model it goes to."""

    _chain: Chain = PrivateAttr()
    _reports: Reports = PrivateAttr()
    _images: Images = PrivateAttr()

    def __init__(
        self,
        chain: Chain,
        reports: Reports | None = None,
        *,
        images: Images | None = None,
    ) -> None:
        super().__init__()
        self._images = images or {}
        self._chain = chain
        self._reports = reports or Unreported()

    @property
    def _llm_type(self) -> str:
        return "fallback"

    def report_to(self, reports: Reports) -> None:
        self._reports = reports

    async def astream_deltas(
        self,
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]] = (),
        *,
        on_status: OnStatus = ignore_status,
    ) -> AsyncGenerator[Delta, None]:
        """As `llmconfig.streaming.ask`. Raises the last model's ModelError."""
        while True:
            has_said = False
            try:
                async for delta in self._ask(messages, tools, on_status):
                    has_said = has_said or delta.says_something()
                    yield delta
                return
            except Exception as caught:
                error = as_model_error(caught)
                if has_said or not isinstance(error, ModelError):
                    raise error from caught
                if not await self._goes_on(error, is_told=bool(tools)):
                    raise error from caught

    async def _goes_on(self, error: ModelError, *, is_told: bool) -> bool:
        """Whether there is another way to ask; it is taken the next time."""
        failed, chain = self._chain.current, self._chain
        is_new = (
            isinstance(error, ModelWithoutTools) and failed.calls_tools is not False
        )
        if is_new:
            failed.calls_tools = False
        following = chain.after(error)
        if following is None:
            if is_new and is_told:
                await self._tell_of_tools(is_new=True)
            return is_new
        reason = _first_sentence(str(error))
        chain.place = following
        text = gettext("“%(failed)s”: %(reason)s. “%(next)s” goes on.") % {
            "failed": failed.name,
            "reason": reason,
            "next": chain.current.name,
        }
        await self._reports.fell_back(following, error.code, text)
        return True

    async def _tell_of_tools(self, *, is_new: bool) -> None:
        chain = self._chain
        if chain.place in chain.told:
            return
        chain.told.add(chain.place)
        words = (
            gettext(
                "“%(name)s” cannot call functions. The tools are written into its "
                "prompt, and its calls are read from text."
            )
            if chain.current.prompts_tools
            else gettext(
                "“%(name)s” cannot call functions. It answers without looking at "
                "anything."
            )
        )
        text = words % {"name": chain.current.name}
        await self._reports.cannot_call(chain.place, text, is_new=is_new)

    async def _ask(
        self,
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]],
        on_status: OnStatus,
    ) -> AsyncGenerator[Delta, None]:
        """With what fits; what its server finds too long, once with half of that."""
        candidate = self._chain.current
        messages = [_masked(message, candidate) for message in messages]
        if tools and candidate.calls_tools is False:
            await self._tell_of_tools(is_new=False)
        for share in (1.0, 0.5):
            window = candidate.fit(messages, tools, share)
            if window.overflow:
                raise ModelOverflow
            self._reports.window(window)
            has_said = False
            try:
                shown = self._with_images(window.messages, is_told=bool(tools))
                async for delta in _asked(candidate, shown, tools, on_status):
                    has_said = has_said or delta.says_something()
                    yield delta
                return
            except ModelOverflow as error:
                is_last = has_said or share < 1.0 or not window.limit
                if is_last or self._chain.after(error) is not None:
                    raise
                on_status(
                    "shortening",
                    "The conversation is too long; older parts are left out.",
                )

    def _with_images(
        self, messages: Sequence[AnyMessage], *, is_told: bool
    ) -> Sequence[AnyMessage]:
        candidate = self._chain.current
        # Where calls are read from text, the conversation is text alone.
        sees = candidate.sees_images and (
            not is_told or candidate.calls_tools is not False
        )
        return with_images(messages, self._images, sees=sees)

    # --- As LangChain asks --------------------------------------------------------

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self._chain.current.model.bind_tools(tools, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._chain.current.model._generate(messages, stop, None, **kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await self._chain.current.model._agenerate(
            messages, stop, None, **kwargs
        )


def _asked(
    candidate: Candidate,
    messages: Sequence[AnyMessage],
    tools: Sequence[dict[str, Any]],
    on_status: OnStatus,
) -> AsyncGenerator[Delta, None]:
    """In the way that this model understands."""
    model = candidate.model
    if not tools or candidate.calls_tools is not False:
        return ask(model, messages, tools, on_status=on_status)
    if candidate.prompts_tools:
        return ask_prompted(model, messages, tools, on_status=on_status)
    return ask(model, as_text(messages, NO_TOOLS), on_status=on_status)


def _masked(message: AnyMessage, candidate: Candidate) -> AnyMessage:
    """For a model outside, of a run that began with one on site."""
    if candidate.masked is str:
        return message
    text = candidate.masked(text_of(message.content))
    return message.model_copy(update={"content": text})


def _first_sentence(text: str) -> str:
    return re.split(r"\.\s|。", text, maxsplit=1)[0].rstrip(".")
