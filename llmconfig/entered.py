"""What people may enter besides the fields that are known: keys, and settings."""

import re
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

_MOST_BYTES = 20_000
# As header lines take them.
_KEY = re.compile(r"[!-~]*")
_SECRETS = frozenset(
    {
        *("apikey", "apisecret", "secret", "secretkey", "clientsecret", "password"),
        *("token", "accesstoken", "bearertoken", "authorization"),
    }
)


def check_key(text: str) -> str:
    """Raises ValidationError for what no provider has given out."""
    text = text.strip()
    if not _KEY.fullmatch(text):
        raise ValidationError(
            gettext("A key has plain letters, digits and signs, and no spaces.")
        )
    return text


def check_extra(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of other programs; they are given back as they are. Raises likewise."""
    try:
        data = orjson.dumps(settings)
        is_kept = b"\\u0000" not in data and orjson.loads(data) == settings
    except (TypeError, ValueError, RecursionError):
        is_kept = False
    if not is_kept:
        raise ValidationError(gettext("This cannot be kept: it is no plain JSON."))
    if len(data) > _MOST_BYTES:
        raise ValidationError(
            gettext("Other settings have at most %(size)d bytes.")
            % {"size": _MOST_BYTES}
        )
    if name := _secret_in(settings):
        # It would be stored and shown as it is.
        raise ValidationError(
            gettext("“%(name)s” looks like a secret: a key belongs into api_key.")
            % {"name": name[:50]}
        )
    return settings


def _secret_in(value: Any) -> str:
    """The name of the first value that looks like one; "" for none."""
    if isinstance(value, list):
        return next(filter(None, map(_secret_in, value)), "")
    if not isinstance(value, dict):
        return ""
    for name, inner in value.items():
        if re.sub(r"[\W_]", "", name).lower() in _SECRETS and inner:
            return str(name)
        if found := _secret_in(inner):
            return found
    return ""
