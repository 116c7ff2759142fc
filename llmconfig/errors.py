"""What can go wrong with a model, in words that say what to do.

ModelError
├── ModelKeyRefused      the key is wrong
├── ModelQuotaUsedUp     too many requests, or nothing left to spend
├── ModelNotFound        the provider does not know the model or the path
├── ModelOverflow        more text than the model can read
├── ModelRefused         the provider rejects the request
├── ModelUnreachable     down, refused, timed out
└── ModelStreamCut       the answer broke off
"""

from copilot_site.lib.errors import UserFacingError


class ModelError(UserFacingError):
    code = "model_error"
    status = 502
    text = "The language model failed. Try again."

    def __init__(self, text: str = "") -> None:
        super().__init__(text or self.text)


class ModelKeyRefused(ModelError):
    code = "model_key_refused"
    text = (
        "The language model's provider refuses the API key. "
        "Check the key in the LLM config."
    )


class ModelQuotaUsedUp(ModelError):
    code = "model_quota"
    text = (
        "The language model's provider accepts no more requests for now "
        "(rate limit or quota). Try again later, or choose another LLM config."
    )


class ModelNotFound(ModelError):
    code = "model_not_found"
    text = (
        "The provider does not know this model, or the base URL is wrong. "
        "Check both in the LLM config."
    )


class ModelOverflow(ModelError):
    code = "context_overflow"
    text = (
        "The conversation is longer than the language model can read. "
        "Start a new conversation, or choose a model with a larger context."
    )


class ModelRefused(ModelError):
    code = "model_refused"
    text = (
        "The provider rejects the request. The model may not support tools "
        "or these settings; check the LLM config."
    )


class ModelUnreachable(ModelError):
    code = "model_unreachable"
    text = (
        "The language model's server does not answer. "
        "Check that it runs and that the base URL is right, then try again."
    )


class ModelStreamCut(ModelError):
    code = "model_stream_cut"
    text = (
        "The language model's answer broke off. What arrived is kept; "
        "no command of it was run. Try again."
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
    "RateLimitError": ModelQuotaUsedUp,
    "NotFoundError": ModelNotFound,
    "OpenAIContextOverflowError": ModelOverflow,
    "ContextOverflowError": ModelOverflow,
    "BadRequestError": ModelRefused,
    "UnprocessableEntityError": ModelRefused,
    "InternalServerError": ModelUnreachable,
    "APITimeoutError": ModelUnreachable,
    "APIConnectionError": ModelUnreachable,
    "StreamChunkTimeoutError": ModelUnreachable,
    "TransportError": ModelStreamCut,
    "APIError": ModelStreamCut,
    "JSONDecodeError": ModelStreamCut,
}
