"""The one door through which keys leave: a chat model from a config."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.conf import settings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from copilot_site.lib.secret_values import remember
from llmconfig.selection import ModelChoice
from llmconfig.window import Fit, Window, fit, unlimited


def chat_client(
    choice: ModelChoice,
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> BaseChatModel:
    """A model ready to be asked; overrides win over the config."""
    if choice.config is None:
        from llmconfig.offline import OfflineChatModel

        return OfflineChatModel(pace=settings.OFFLINE_PACE)

    from llmconfig.openai_model import OpenAIModel

    config = choice.config
    options: dict[str, Any] = {}
    if (
        chosen := temperature if temperature is not None else config.temperature
    ) is not None:
        options["temperature"] = chosen
    if (limit := max_tokens or config.max_tokens) is not None:
        options["max_tokens"] = limit
    return OpenAIModel(
        model=config.model,
        base_url=normalised(config.base_url),
        # Servers on site often take no key, but the client insists on one.
        api_key=remember(config.api_key or "none"),  # type: ignore[arg-type]
        # It retries by itself, so that a person hears of the wait.
        max_retries=0,
        timeout=60,
        http_async_client=_http(),
        sends_reasoning=config.sends_reasoning,
        **options,
    )


def fitting(choice: ModelChoice, *, max_tokens: int | None = None) -> Fit:
    """How a conversation is made to fit what the model can read."""
    config = choice.config
    if config is None:
        return unlimited

    wanted = max_tokens or config.max_tokens or 0

    def fitted(
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]],
        share: float = 1.0,
    ) -> Window:
        return fit(
            messages,
            limit=int(config.context_limit * 1000 * share),
            strategy=config.context_strategy,  # type: ignore[arg-type]  # its choices
            tools=tools,
            reserve=min(wanted, config.context_limit * 1000 // 4),
            sends_reasoning=config.sends_reasoning,
        )

    return fitted


def normalised(base_url: str) -> str:
    """Without space, trailing slash or a known suffix; a missing /v1 stays missing."""
    url = base_url.strip().rstrip("/")
    return url.removesuffix("/chat/completions").rstrip("/")


@cache
def _http() -> Any:
    """One pool of connections per process; aiohttp's cost a quarter of httpx's own."""
    import httpx
    from httpx_aiohttp import HttpxAiohttpClient

    return HttpxAiohttpClient(
        limits=httpx.Limits(max_connections=1000, max_keepalive_connections=200),
        timeout=httpx.Timeout(60, connect=10),
        follow_redirects=False,
    )
