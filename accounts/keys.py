"""Personal API tokens: made once, recognised by their digest."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken
from copilot_site.bearer import Place
from copilot_site.identity import Identity, NotAuthenticated

PREFIX = "copilot_"
_BYTES = 32
_SHOWN = len(PREFIX) + 4
# A busy program must not write a row with each request.
_USED_EVERY = timedelta(minutes=1)


def create_token(
    *, user: User, name: str, expires_at: datetime | None
) -> tuple[ApiToken, str]:
    """The row, and the token itself, which nobody can read again."""
    raw = PREFIX + secrets.token_urlsafe(_BYTES)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=_digest(raw),
        beginning=raw[:_SHOWN],
        expires_at=expires_at,
    )
    return token, raw


def identity_of(raw: str, place: Place) -> Identity | None:
    """None for a token of another kind. Raises NotAuthenticated."""
    if not raw.startswith(PREFIX):
        return None
    rows = ApiToken.objects.usable().select_related("user")
    token = rows.filter(digest=_digest(raw)).first()
    if token is None:
        raise NotAuthenticated("The token is not valid, or no longer.")
    now = timezone.now()
    unused = Q(last_used_at=None) | Q(last_used_at__lt=now - _USED_EVERY)
    ApiToken.objects.filter(unused, pk=token.pk).update(last_used_at=now)
    return Identity(
        token.user,
        expires_at=token.expires_at,
        kind="api_token",
        holds=lambda: ApiToken.objects.usable().filter(pk=token.pk).exists(),
    )


def _digest(raw: str) -> str:
    # 256 random bits need no slow hash.
    return hashlib.sha256(raw.encode()).hexdigest()
