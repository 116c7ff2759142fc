"""ChatOpenAI for requests, keys, addresses and error classes; its stream read by us.

The stock reader takes a cut stream for an answer, repairs cut arguments, adds up usage
and drops what it does not know; and it spends most of its time on building objects.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx
import openai
from langchain_core.messages import AnyMessage
from langchain_openai import ChatOpenAI

from copilot_site.lib.outbound import AddressRefused, refused_within
from llmconfig.answer_reader import AnswerReader
from llmconfig.deltas import Delta
from llmconfig.errors import (
    ModelAddressRefused,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelStalled,
    ModelStreamCut,
    ModelUnreachable,
)
from llmconfig.payload import REASONING, chat_messages
from llmconfig.provider_errors import error_text, of_status
from llmconfig.streaming import OnStatus, ignore_status

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 20.0
_RETRIES = 2
_BACKOFF = (0.5, 1.5)
_OPTIONAL = ("stream_options", "max_completion_tokens", "max_tokens", "temperature")
# What servers have refused, by address and model: asked once, not in each request.
_refused: dict[tuple[str, str], set[str]] = {}
# Whether they want the model's reasoning back, where they have contradicted a config.
_wants_reasoning: dict[tuple[str, str], bool] = {}


class OpenAIModel(ChatOpenAI):
    """A chat model behind any OpenAI-compatible address."""

    sends_reasoning: bool = False
    first_token_seconds: float = 120.0
    stall_seconds: float = 60.0
    # For servers that say nothing, but say by comments that they are alive.
    keep_alive_seconds: float = 300.0
    # After the reason for the end only usage may follow.
    end_seconds: float = 5.0
    retries: int = 2

    async def astream_deltas(
        self,
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]] = (),
        *,
        on_status: OnStatus = ignore_status,
    ) -> AsyncGenerator[Delta, None]:
        """The answer piece by piece. Raises ModelError, never a provider's own text."""
        retries, has_said = 0, False
        while True:
            try:
                async for delta in self._once(messages, tools):
                    has_said = has_said or delta.says_something()
                    yield delta
                return
            except _Adapted:
                # Each time one setting fewer, so this ends.
                continue
            except ModelError as error:
                is_final = has_said or retries >= self.retries
                wait = None if is_final else _wait_before_retry(error, retries)
                if wait is None:
                    raise
                reason = str(error).partition(". ")[0]
            retries += 1
            text = f"{reason}. Trying again in {math.ceil(wait)} s."
            on_status("waiting_for_model", text)
            await asyncio.sleep(wait)

    async def _once(
        self, messages: Sequence[AnyMessage], tools: Sequence[dict[str, Any]]
    ) -> AsyncIterator[Delta]:
        body = self._body(messages, tools)
        started = asyncio.get_running_loop().time()
        # The reading below sets narrower limits; httpx's own would be taken for a cut.
        limit = httpx.Timeout(self.keep_alive_seconds, connect=10.0, pool=10.0)
        # The body is plain JSON already: what is no extra, the client walks through
        # and compares with its types, for milliseconds where there are tools.
        stream = self.async_client.with_streaming_response.create(
            model=self.model_name,
            messages=[],
            stream=True,
            extra_body=body,
            timeout=limit,
        )
        try:
            async with asyncio.timeout(self.first_token_seconds):
                response = await stream.__aenter__()
        except openai.APIStatusError as error:
            raise self._explained(error, body) from None
        except TimeoutError:
            raise _TooSlow(self.first_token_seconds) from None
        except (openai.APIConnectionError, AddressRefused) as error:
            if refused := refused_within(error):
                raise ModelAddressRefused(str(refused)) from None
            raise ModelUnreachable from None
        try:
            async for delta in self._read(response.http_response, started):
                yield delta
        finally:
            await stream.__aexit__(None, None, None)

    async def _read(
        self, response: httpx.Response, started: float
    ) -> AsyncIterator[Delta]:
        kind = response.headers.get("content-type", "")
        reader = AnswerReader(is_stream="event-stream" in kind)
        clock = asyncio.get_running_loop().time
        read_at = heard_at = started
        has_said = False
        chunks = aiter(response.aiter_bytes())
        while not reader.is_over:
            quiet = self.stall_seconds if has_said else self.first_token_seconds
            deadline = min(read_at + quiet, heard_at + self.keep_alive_seconds)
            if reader.has_reason:
                deadline = heard_at + self.end_seconds
            try:
                async with asyncio.timeout_at(deadline):
                    data = await anext(chunks)
            except StopAsyncIteration:
                deltas = reader.finish()
            except (TimeoutError, httpx.TimeoutException):
                if reader.has_reason:
                    return
                if not has_said:
                    raise _TooSlow(clock() - started) from None
                raise ModelStalled from None
            except (httpx.RequestError, openai.APIError, OSError):
                if reader.has_reason:
                    return
                raise ModelStreamCut from None
            else:
                deltas = reader.feed(data)
            read_at = clock()
            if deltas:
                heard_at = read_at
            for delta in deltas:
                has_said = has_said or delta.says_something()
                yield delta
        if reader.failure is not None:
            raise reader.failure

    # --- The request -----------------------------------------------------------

    def _body(
        self, messages: Sequence[AnyMessage], tools: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        sends_reasoning = _wants_reasoning.get(self._place(), self.sends_reasoning)
        body: dict[str, Any] = {
            "model": self.model_name,
            "messages": chat_messages(messages, sends_reasoning=sends_reasoning),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = list(tools)
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        return self._without_refused(body)

    def _place(self) -> tuple[str, str]:
        return (str(self.openai_api_base), self.model_name)

    def _without_refused(self, body: dict[str, Any]) -> dict[str, Any]:
        refused = _refused.get(self._place(), set())
        body = {key: value for key, value in body.items() if key not in refused}
        newer = "max_completion_tokens"
        if "max_tokens" in refused and self.max_tokens and newer not in refused:
            body[newer] = self.max_tokens
        return body

    def _explained(
        self, error: openai.APIStatusError, body: dict[str, Any]
    ) -> ModelError:
        known = of_status(error)
        if type(known) is ModelRefused:
            return self._adapt(error_text(error), body) or known
        return known

    def _adapt(self, text: str, body: dict[str, Any]) -> ModelError | None:
        """Do without, from now on, what the server names as unknown to it."""
        place = self._place()
        if REASONING in text and place not in _wants_reasoning:
            # Some models demand their reasoning back, others refuse it.
            is_sent = any(REASONING in message for message in body["messages"])
            _wants_reasoning[place] = not is_sent
            return _Adapted()
        for name in _OPTIONAL:
            if name in body and name in text:
                _refused.setdefault(place, set()).add(name)
                return _Adapted()
        return None


class _Adapted(ModelRefused):
    """The request was refused for a setting that is now left out."""


class _TooSlow(ModelUnreachable):
    """It took the request and said nothing; asking again would only take as long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            "The language model's server took the question but said nothing "
            f"for {seconds:.0f} seconds. It may be overloaded; try again later."
        )


def _wait_before_retry(error: ModelError, retries: int) -> float | None:
    """Seconds; None when there is no point, or it would take too long."""
    if retries >= _RETRIES:
        return None
    match error:
        case ModelRateLimited():
            wait = 2.0 if error.seconds is None else error.seconds
            return wait if wait <= _LONGEST_WAIT else None
        case _TooSlow():
            return None
        case ModelUnreachable() | ModelStreamCut():
            return _BACKOFF[retries]
    return None
