"""Tries a config out: what was called, and in words what came back.

One tiny question, and one more that wants a tool. Bodies and keys are never repeated:
only what a model has said as a model's answer is shown.
"""

import asyncio
import json
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.utils.translation import gettext
from langchain_core.messages import AnyMessage, HumanMessage

from copilot_site.lib.outbound import AddressRefused, Reach, outside_client
from copilot_site.lib.secret_values import mask, remember
from llmconfig.clients import normalised
from llmconfig.deltas import Usage
from llmconfig.errors import (
    ModelBadAnswer,
    ModelError,
    ModelKeyRefused,
    ModelNotFound,
    ModelRateLimited,
    ModelRedirected,
    ModelRefused,
    ModelUnreachable,
)
from llmconfig.openai_model import OpenAIModel

_SECONDS = 30.0
_LIST_BYTES = 2 * 1024 * 1024
_MOST_MODELS = 500
_LONGEST_TEXT = 200
_HELLO: list[AnyMessage] = [HumanMessage("Reply with the one word: ready")]
_CALL: list[AnyMessage] = [HumanMessage("Call the function `ready`.")]
_READY = {
    "type": "function",
    "function": {
        "name": "ready",
        "description": "Say that you are ready.",
        "parameters": {"type": "object", "properties": {}},
    },
}


@dataclass
class Report:
    """What a person reads after “Test connection”."""

    address: str
    model: str
    ok: bool = False
    status: int | None = None
    elapsed_ms: int = 0
    first_token_ms: int | None = None
    streaming: bool | None = None
    usage: Usage | None = None
    tool_calls: bool | None = None
    text: str = ""
    message: str = ""
    hint: str = ""
    _kind: str = field(default="", repr=False)

    def as_json(self) -> dict[str, Any]:
        shown = asdict(self)
        del shown["_kind"]
        return shown


async def probe(*, base_url: str, model: str, api_key: str, reach: Reach) -> Report:
    """Ask this model; whatever goes wrong is in the report."""
    base = normalised(base_url)
    report = Report(address=f"{base}/chat/completions", model=model)
    started = asyncio.get_running_loop().time()
    try:
        reach.check(base)
        async with outside_client(reach, connections=2) as http:
            http.event_hooks = {"response": [lambda answer: _note(report, answer)]}
            asked = _model(base, model, api_key, http)
            async with asyncio.timeout(_SECONDS):
                await _hello(asked, report, started)
            report.ok = True
            report.tool_calls = await _calls_tools(asked)
    except AddressRefused as error:
        report.message = str(error)
    except TimeoutError:
        report.message = gettext("No answer within %(count)d seconds.") % {
            "count": round(_SECONDS)
        }
    except ModelError as error:
        report.message, report.hint = _explained(error, report, base, api_key)
    report.elapsed_ms = _since(started)
    if report.ok:
        report.message = gettext("The model answers.")
    report.text = mask(report.text)
    return report


def _model(base: str, model: str, api_key: str, http: httpx.AsyncClient) -> OpenAIModel:
    # Enough for a thought before the word.
    limit: dict[str, Any] = {"max_tokens": 256}
    return OpenAIModel(
        model=model,
        base_url=base,
        api_key=remember(api_key or "none"),  # type: ignore[arg-type]
        max_retries=0,
        timeout=_SECONDS,
        http_async_client=http,
        first_token_seconds=_SECONDS,
        retries=0,
        **limit,
    )


async def _note(report: Report, answer: httpx.Response) -> None:
    if report.status is None or not report.ok:
        report.status = answer.status_code
        report._kind = answer.headers.get("content-type", "")


async def _hello(asked: OpenAIModel, report: Report, started: float) -> None:
    pieces = 0
    async for delta in asked.astream_deltas(_HELLO):
        if delta.says_something():
            if report.first_token_ms is None:
                report.first_token_ms = _since(started)
            pieces += 1
        report.text = (report.text + delta.text)[:_LONGEST_TEXT]
        if delta.usage is not None:
            report.usage = (report.usage or Usage()).updated(delta.usage)
    report.streaming = "event-stream" in report._kind or pieces > 1


async def _calls_tools(asked: OpenAIModel) -> bool | None:
    """None: it was not refused, but the model did not call either."""
    try:
        async with asyncio.timeout(_SECONDS):
            async for delta in asked.astream_deltas(_CALL, [_READY]):
                if any(part.name for part in delta.calls):
                    return True
    except ModelRefused:
        return False
    except (ModelError, TimeoutError):
        return None
    return None


def _explained(
    error: ModelError, report: Report, base: str, api_key: str
) -> tuple[str, str]:
    """In words, and what to try."""
    path = urlsplit(base).path
    try_v1 = gettext("Most base URLs end in /v1: try %(url)s.") % {"url": f"{base}/v1"}
    if "/v1" in path:
        try_v1 = ""
    match error:
        case ModelBadAnswer() if "html" in report._kind:
            return gettext("A web page came back, not a model's answer."), try_v1
        case ModelBadAnswer():
            text = gettext("Something answered, but not as a language model does.")
            return text, try_v1
        case ModelNotFound():
            return (
                gettext("There is nothing at %(url)s, or no model “%(model)s”.")
                % {"url": report.address, "model": report.model},
                try_v1
                or gettext(
                    "Check the model's name; “List models” shows what there is."
                ),
            )
        case ModelKeyRefused() if not api_key:
            return gettext("The server wants an API key."), gettext("Enter one.")
        case ModelKeyRefused():
            return (
                gettext("The server refuses the API key."),
                gettext("Check the key, and that it may use this model."),
            )
        case ModelUnreachable() if report.status is None:
            place = urlsplit(base).netloc.rpartition("@")[2]
            text = gettext("Nothing answers at %(place)s.") % {"place": place}
            return text, gettext("Check host, port and network.")
        case ModelUnreachable():
            return (
                gettext("The server answered with an error of its own (%(status)s).")
                % {"status": report.status},
                "",
            )
    return str(error), ""


def _since(started: float) -> int:
    return round((asyncio.get_running_loop().time() - started) * 1000)


# --- Which models there are -----------------------------------------------------


async def list_models(*, base_url: str, api_key: str, reach: Reach) -> list[str]:
    """The provider's names of its models. Raises AddressRefused, ModelError."""
    base = normalised(base_url)
    reach.check(base)
    headers = {"Authorization": f"Bearer {remember(api_key)}"} if api_key else {}
    try:
        async with (
            asyncio.timeout(_SECONDS),
            outside_client(reach, connections=2) as http,
            http.stream("GET", f"{base}/models", headers=headers) as answer,
        ):
            _check_status(answer.status_code)
            body = b""
            async for data in answer.aiter_bytes():
                body += data
                if len(body) > _LIST_BYTES:
                    raise ModelBadAnswer
    except (httpx.HTTPError, TimeoutError):
        raise ModelUnreachable from None
    return _names(body)


def _check_status(status: int) -> None:
    match status:
        case 401 | 403:
            raise ModelKeyRefused
        case 429:
            raise ModelRateLimited
        case status if 300 <= status < 400:
            raise ModelRedirected
        case status if status >= 500:
            raise ModelUnreachable
        case status if status >= 400:
            raise ModelNotFound(gettext("This server offers no list of its models."))


def _names(body: bytes) -> list[str]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelBadAnswer from None
    rows: Any = value
    if isinstance(value, dict):
        rows = value.get("data", value.get("models"))
    if not isinstance(rows, list):
        raise ModelBadAnswer
    found = (_name(row) for row in rows)
    return sorted({name for name in found if 0 < len(name) <= 255})[:_MOST_MODELS]


def _name(row: object) -> str:
    if isinstance(row, dict):
        row = row.get("id") or row.get("name")
    return row if isinstance(row, str) else ""
