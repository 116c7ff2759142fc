"""The one door through which keys leave: a chat model from a config."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from django.conf import settings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from copilot_site.lib.fields import Unreadable
from copilot_site.lib.outbound import AddressRefused, outside_client, reach
from copilot_site.lib.secret_values import remember
from llmconfig.chain import Candidate, Chain
from llmconfig.errors import ModelAddressRefused, ModelKeyUnreadable
from llmconfig.selection import ModelChoice
from llmconfig.window import Fit, Window, fit, unlimited


def chat_client(
    choice: ModelChoice,
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> BaseChatModel:
    """A model ready to be asked; overrides win over the config.

    Raises ModelKeyUnreadable, ModelAddressRefused.
    """
    if choice.config is None:
        from llmconfig.offline import OfflineChatModel

        return OfflineChatModel(pace=settings.OFFLINE_PACE)

    from llmconfig.openai_model import OpenAIModel

    config = choice.config
    if isinstance(config.api_key, Unreadable):
        raise ModelKeyUnreadable
    url = normalised(config.base_url)
    try:
        reach(is_trusted=config.is_trusted).check(url)
    except AddressRefused as error:
        raise ModelAddressRefused(str(error)) from None
    options: dict[str, Any] = {}
    if (
        chosen := temperature if temperature is not None else config.temperature
    ) is not None:
        options["temperature"] = chosen
    if (limit := max_tokens or config.max_tokens) is not None:
        options["max_tokens"] = limit
    return OpenAIModel(
        model=config.model,
        base_url=url,
        # Servers on site often take no key, but the client insists on one.
        api_key=remember(config.api_key or "none"),  # type: ignore[arg-type]
        # It retries by itself, so that a person hears of the wait.
        max_retries=0,
        timeout=60,
        http_async_client=_http(config.is_trusted),
        sends_reasoning=config.sends_reasoning,
        **options,
    )


def chain_of(
    choice: ModelChoice,
    masked: Callable[[str], str],
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Chain:
    """The chosen model and those that go on after it, none of them made yet.

    `masked` is used for those to which no secret of a device may go.
    """

    def candidate(one: ModelChoice) -> Candidate:
        config = one.config
        return Candidate(
            name=config.name if config else one.model,
            make=partial(
                chat_client, one, temperature=temperature, max_tokens=max_tokens
            ),
            fit=fitting(one, max_tokens=max_tokens),
            context_limit=config.context_limit if config else None,
            calls_tools=config.supports_tools if config else True,
            prompts_tools=bool(config and config.prompts_tools),
            sees_images=bool(config and config.supports_vision),
            masked=masked if config and config.redacts else str,
        )

    return Chain([candidate(one) for one in choice.chain()])


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
def _http(is_trusted: bool) -> Any:
    """One pool of connections per process; aiohttp's cost a quarter of httpx's own."""
    return outside_client(reach(is_trusted=is_trusted), connections=1000)
