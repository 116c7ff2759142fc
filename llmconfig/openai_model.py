"""ChatOpenAI for requests, keys, addresses and error classes; its stream read by us.

The stock reader takes a cut stream for an answer, repairs cut arguments, adds up usage
and drops what it does not know; and it spends most of its time on building objects.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx
import openai
import orjson
from langchain_core.messages import AnyMessage
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from llmconfig.deltas import Delta, TextCleaner, delta_of, merged, whole
from llmconfig.errors import (
    ModelBadAnswer,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelStalled,
    ModelStreamCut,
    ModelStreamFailed,
    ModelUnreachable,
)
from llmconfig.payload import Redact, chat_messages
from llmconfig.provider_errors import error_text, in_band, of_status
from llmconfig.sse import EventTooLarge, SSEDecoder
from llmconfig.streaming import OnStatus, ignore_status

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 20.0
_RETRIES = 2
_BACKOFF = (0.5, 1.5)
_OPTIONAL = ("stream_options", "max_completion_tokens", "max_tokens", "temperature")
# What servers have refused, by address and model: asked once, not in each request.
_refused: dict[tuple[str, str], set[str]] = {}


class OpenAIModel(ChatOpenAI):
    """A chat model behind any OpenAI-compatible address."""

    sends_reasoning: bool = False
    first_token_seconds: float = 120.0
    stall_seconds: float = 60.0
    _redact: Redact = PrivateAttr(default=str)

    def redacting(self, redact: Redact) -> "OpenAIModel":
        """Masks device text in all that is sent from now on."""
        self._redact = redact
        return self

    async def astream_deltas(
        self,
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]] = (),
        *,
        on_status: OnStatus = ignore_status,
    ) -> AsyncGenerator[Delta, None]:
        """The answer piece by piece. Raises ModelError, never a provider's own text."""
        body = self._body(messages, tools)
        for attempt in range(_RETRIES + 1):
            try:
                async for delta in self._once(body):
                    attempt = _RETRIES
                    yield delta
                return
            except ModelError as error:
                wait = self._wait_before_retry(error, attempt)
                if wait is None:
                    raise
                on_status("waiting_for_model", f"{error} Trying again in {wait:.0f} s.")
                await asyncio.sleep(wait)

    def _wait_before_retry(self, error: ModelError, attempt: int) -> float | None:
        """Seconds; None when there is no point, or it would take too long."""
        if attempt >= _RETRIES:
            return None
        match error:
            case ModelRateLimited():
                wait = 2.0 if error.seconds is None else error.seconds
                return wait if wait <= _LONGEST_WAIT else None
            case ModelUnreachable():
                return _BACKOFF[attempt]
            case _Adapted():
                return 0.0
        return None

    async def _once(self, body: dict[str, Any]) -> AsyncIterator[Delta]:
        adapted = self._without_refused(body)
        try:
            stream = self.async_client.with_streaming_response.create(**adapted)
            async with asyncio.timeout(self.first_token_seconds):
                response = await stream.__aenter__()
        except openai.APIStatusError as error:
            raise self._explained(error, adapted) from None
        except (openai.APIConnectionError, TimeoutError):
            raise ModelUnreachable from None
        try:
            async for delta in self._read(response.http_response):
                yield delta
        finally:
            await stream.__aexit__(None, None, None)

    async def _read(self, response: httpx.Response) -> AsyncIterator[Delta]:
        kind = response.headers.get("content-type", "")
        if "json" in kind and "event-stream" not in kind:
            yield _whole_answer(await self._all(response))
            return
        decoder, cleaner = SSEDecoder(), TextCleaner()
        seconds, is_first = self.first_token_seconds, True
        chunks = aiter(response.aiter_bytes())
        while True:
            try:
                async with asyncio.timeout(seconds):
                    data = await anext(chunks)
            except StopAsyncIteration:
                payloads, is_end = decoder.finish(), True
            except TimeoutError:
                raise ModelStalled from None
            except (httpx.TransportError, openai.APIError, OSError):
                raise ModelStreamCut from None
            else:
                is_end = False
                try:
                    payloads = decoder.feed(data)
                except EventTooLarge:
                    raise ModelBadAnswer from None
            seconds = self.stall_seconds
            deltas, ending = _deltas(payloads, is_end=is_end)
            for delta in deltas:
                is_first = False
                if delta.text:
                    delta.text = cleaner.clean(delta.text)
                if delta.reasoning:
                    delta.reasoning = whole(delta.reasoning)
                yield delta
            match ending:
                case _Done():
                    return
                case Exception():
                    raise ending
            if is_end:
                if is_first:
                    raise ModelStreamCut if "event-stream" in kind else ModelBadAnswer
                return

    async def _all(self, response: httpx.Response) -> bytes:
        try:
            async with asyncio.timeout(self.first_token_seconds):
                return await response.aread()
        except (TimeoutError, httpx.TransportError):
            raise ModelStreamCut from None

    # --- The request -----------------------------------------------------------

    def _body(
        self, messages: Sequence[AnyMessage], tools: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model_name,
            "messages": chat_messages(
                messages, sends_reasoning=self.sends_reasoning, redact=self._redact
            ),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = list(tools)
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        return body

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
        """Leave out from now on what the server names as unknown to it."""
        for name in _OPTIONAL:
            if name in body and name in text:
                _refused.setdefault(self._place(), set()).add(name)
                return _Adapted()
        return None


class _Adapted(ModelRefused):
    """The request was refused for a setting that is now left out."""


class _Done(Exception):
    """The provider said [DONE]."""


def _deltas(
    payloads: list[bytes], *, is_end: bool
) -> tuple[list[Delta], Exception | None]:
    """What one read has brought, neighbours of text joined, and what ends it."""
    deltas: list[Delta] = []
    for payload in payloads:
        if payload.strip() == b"[DONE]":
            return merged(deltas), _Done()
        chunk = _parsed(payload)
        if chunk is None:
            # At the end it is the rest of a chunk that was cut off.
            return merged(deltas), ModelStreamCut() if is_end else ModelStreamFailed()
        if chunk.get("error"):
            return merged(deltas), in_band(chunk["error"])
        deltas.append(delta_of(chunk))
    return merged(deltas), None


def _parsed(payload: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError:
        # Halves of surrogate pairs are no JSON to orjson; servers cut them so.
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else {}


def _whole_answer(body: bytes) -> Delta:
    """From a server that does not stream."""
    value = _parsed(body)
    if value and value.get("error"):
        raise in_band(value["error"])
    if not value or not isinstance(value.get("choices"), list):
        raise ModelBadAnswer
    delta = delta_of(value)
    delta.text = TextCleaner().clean(delta.text) if delta.text else ""
    return delta
