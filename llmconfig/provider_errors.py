"""A provider's failures → ours. Its own texts are read, never shown."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai

from llmconfig.errors import (
    ModelError,
    ModelKeyRefused,
    ModelNotFound,
    ModelOverflow,
    ModelQuotaUsedUp,
    ModelRateLimited,
    ModelRedirected,
    ModelRefused,
    ModelStreamFailed,
    ModelUnreachable,
    ModelWithoutTools,
)


def of_status(error: openai.APIStatusError) -> ModelError:
    """From the HTTP status, and where one means several things, the text."""
    text = error_text(error)
    seconds = _retry_after(error.response.headers)
    match error.status_code:
        case 401 | 403:
            return ModelKeyRefused()
        case 402:
            return ModelQuotaUsedUp()
        case 404 | 405:
            return ModelWithoutTools() if refuses_tools(text) else ModelNotFound()
        case 429:
            if "insufficient_quota" in text or "billing" in text:
                return ModelQuotaUsedUp()
            return ModelRateLimited(seconds)
        case 503 | 529 if seconds is not None:
            return ModelRateLimited(seconds)
        case 408:
            return ModelUnreachable()
        case 413:
            return ModelOverflow()
        case status if status < 400:
            return ModelRedirected()
    # Ollama answers 500 and these words when it has cut the question away.
    if _is_overflow(text) or "no user query" in text:
        return ModelOverflow()
    if refuses_tools(text):
        return ModelWithoutTools()
    return ModelUnreachable() if error.status_code >= 500 else ModelRefused()


def in_band(error: object) -> ModelError:
    """An error within a stream whose status was 200."""
    text = str(error).lower()
    fields = error if isinstance(error, dict) else {}
    codes = {str(fields.get(key)) for key in ("code", "status", "status_code", "type")}
    if _is_overflow(text) or "no user query" in text:
        return ModelOverflow()
    if "insufficient_quota" in text or "402" in codes:
        return ModelQuotaUsedUp()
    if codes & {"429", "rate_limit_exceeded"} or "rate limit" in text:
        return ModelRateLimited()
    if codes & {"401", "403", "invalid_api_key", "authentication_error"}:
        return ModelKeyRefused()
    if codes & {"404", "model_not_found"}:
        return ModelNotFound()
    if codes & {"400", "422", "invalid_request_error"}:
        return ModelRefused()
    return ModelStreamFailed()


def _is_overflow(text: str) -> bool:
    return any(
        sign in text
        for sign in (
            "context_length",
            "context length",
            "context_size",
            "context size",
            "context window",
            "contextwindow",
            "prompt is too long",
            "maximum context",
            "too many tokens",
            "input tokens exceed",
            "input is too long",
        )
    )


def refuses_tools(text: str) -> bool:
    """Whether the words say that this model, or its server, calls no functions."""
    about = ("tool use", "tool_use", "tool call", "tool choice", "function calling")
    refused = ("not support", "unsupported", "no endpoints", "requires --enable")
    names = (*about, "tools", "tool_choice", "functions")
    return any(word in text for word in names) and any(no in text for no in refused)


def error_text(error: openai.APIStatusError) -> str:
    """For recognising it; never shown: it may echo the key."""
    return f"{error.message} {error.body}".lower()


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from either header; a date counts as from now."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _waiting(float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        try:
            return _waiting(float(value))
        except ValueError:
            moment = parsedate_to_datetime(value)
            return _waiting((moment - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _waiting(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None
