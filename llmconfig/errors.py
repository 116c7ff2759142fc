"""What can go wrong with a model, in words that say what to do.

ModelError
├── ModelKeyRefused      the key is wrong, or may not use this model
├── ModelQuotaUsedUp     nothing left to spend
├── ModelRateLimited     too many requests; knows for how long
├── ModelNotFound        the provider does not know the model or the path
├── ModelOverflow        more text than the model can read
├── ModelRefused         the provider rejects the request
│   └── ModelWithoutTools    it cannot call functions
├── ModelAddressRefused  the address is none that may be called from here
├── ModelRedirected      the server sends the request elsewhere
├── ModelKeyUnreadable   the stored key is not opened by today's encryption keys
├── ModelUnreachable     down, refused, timed out
├── ModelBadAnswer       it answers, but not as a chat model does
├── ModelStalled         the answer stopped coming
├── ModelStreamCut       the answer broke off
└── ModelStreamFailed    the provider reported an error within the answer
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.errors import UserFacingError

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class ModelError(UserFacingError):
    code = "model_error"
    status = 502
    # Put into a language when it is shown: the worker's runs have each their own.
    text: "_StrPromise" = _("The language model failed. Try again.")

    def __init__(self, text: str = "") -> None:
        super().__init__(text or self.text)


class ModelKeyRefused(ModelError):
    code = "model_key_refused"
    text = _(
        "The language model's provider refuses the API key. "
        "Check the key in the LLM config, and that it may use this model."
    )


class ModelQuotaUsedUp(ModelError):
    code = "model_quota"
    text = _(
        "The account at the language model's provider has nothing left to spend. "
        "Check its plan and billing, or choose another LLM config."
    )


class ModelRateLimited(ModelError):
    """`seconds`: how long the provider asks to wait; None if it does not say."""

    code = "model_rate_limited"

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        super().__init__(_wait_words(seconds))


def _wait_words(seconds: float | None) -> str:
    if seconds is None:
        return gettext(
            "The language model's provider accepts no more requests for now. "
            "Wait a moment and ask again, or choose another LLM config."
        )
    count = round(seconds)
    return ngettext(
        "The language model's provider accepts no more requests for now. "
        "Wait %(count)d second and ask again, or choose another LLM config.",
        "The language model's provider accepts no more requests for now. "
        "Wait %(count)d seconds and ask again, or choose another LLM config.",
        count,
    ) % {"count": count}


class ModelNotFound(ModelError):
    code = "model_not_found"
    text = _(
        "The provider does not know this model, or the base URL is wrong. "
        "Check both in the LLM config."
    )


class ModelOverflow(ModelError):
    code = "context_overflow"
    text = _(
        "The conversation is longer than the language model can read. "
        "Start a new conversation, ask for less at once, or choose a model with a "
        "larger context."
    )


class ModelRefused(ModelError):
    code = "model_refused"
    text = _(
        "The provider rejects the request. The model may not support tools "
        "or these settings; check the LLM config."
    )


class ModelWithoutTools(ModelRefused):
    code = "model_without_tools"
    text = _(
        "The language model cannot call functions. Choose one that can, or let its "
        "LLM config write the tools into the prompt."
    )


class ModelAddressRefused(ModelError):
    code = "address_refused"
    status = 400


class ModelRedirected(ModelError):
    code = "model_redirected"
    text = _(
        "The server at the base URL sends requests to another address, which is not "
        "followed: the key would go there. Write the final address into the LLM config."
    )


class ModelKeyUnreadable(ModelError):
    code = "model_key_unreadable"
    text = _(
        "The API key of this LLM config cannot be read with today's encryption keys. "
        "Put the missing key back into ENCRYPTION_KEYS, or enter the API key again."
    )


class ModelUnreachable(ModelError):
    code = "model_unreachable"
    text = _(
        "The language model's server does not answer. "
        "Check that it runs and that the base URL is right, then try again."
    )


class ModelBadAnswer(ModelError):
    code = "model_bad_answer"
    text = _(
        "The server at the base URL answers, but not as an OpenAI-compatible model. "
        "Check the base URL in the LLM config; most end in /v1."
    )


class ModelStalled(ModelError):
    code = "model_stalled"
    text = _(
        "The language model stopped in the middle of its answer. "
        "What arrived is kept. Try again."
    )


class ModelStreamCut(ModelError):
    code = "model_stream_cut"
    text = _(
        "The language model's answer broke off. What arrived is kept; "
        "no command of it was run. Try again."
    )


class ModelStreamFailed(ModelError):
    code = "model_stream_failed"
    text = _(
        "The language model's provider reported an error in the middle of the answer. "
        "What arrived is kept. Try again."
    )


def as_model_error(error: Exception) -> UserFacingError:
    """The same failure in our words; the provider's own text may echo the key.

    Anything that is not the provider's doing is raised again: it is a bug.
    """
    if isinstance(error, UserFacingError):
        return error
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_NAME:
            return _BY_NAME[kind.__name__]()
    if isinstance(error, TimeoutError | ConnectionError):
        return ModelUnreachable()
    raise error


# By name, so that no provider's SDK is imported here.
_BY_NAME: dict[str, type[ModelError]] = {
    "AuthenticationError": ModelKeyRefused,
    "PermissionDeniedError": ModelKeyRefused,
    "RateLimitError": ModelRateLimited,
    "NotFoundError": ModelNotFound,
    "ContextOverflowError": ModelOverflow,
    "BadRequestError": ModelRefused,
    "UnprocessableEntityError": ModelRefused,
    "InternalServerError": ModelUnreachable,
    "APITimeoutError": ModelUnreachable,
    "APIConnectionError": ModelUnreachable,
    "StreamChunkTimeoutError": ModelStalled,
    "TransportError": ModelStreamCut,
    "APIError": ModelStreamFailed,
    "JSONDecodeError": ModelStreamCut,
}
