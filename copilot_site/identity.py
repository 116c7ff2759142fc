"""A person, and for how long this way of knowing them holds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest

from copilot_site.lib.errors import UserFacingError


class NotAuthenticated(UserFacingError):
    code = "not_authenticated"
    status = 401

    def __init__(self, text: str = "Log in, or send a valid bearer token.") -> None:
        super().__init__(text)


class CsrfFailed(UserFacingError):
    code = "csrf_failed"
    status = 403


@dataclass(frozen=True, slots=True)
class Gns3Login:
    """Somebody whom a GNS3 server knows; the token acts there and nowhere else."""

    server_id: int
    is_superadmin: bool
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """A person, and for how long this way of knowing them holds."""

    user: User
    expires_at: datetime | None = None
    session_key: str | None = None
    kind: Literal["login", "api_token", "gns3"] = "login"
    gns3: Gns3Login | None = None
    # What else must still hold: a token that was not revoked meanwhile.
    holds: Callable[[], bool] | None = field(default=None, repr=False)

    def is_still_valid(self) -> bool:
        """Reads the database: logged out, expired or made inactive meanwhile?"""
        if self.expires_at is not None and datetime.now(UTC) >= self.expires_at:
            return False
        if self.session_key is not None:
            user = session_user(self.session_key)
            return user is not None and user.pk == self.user.pk
        users = get_user_model().objects
        if not users.filter(pk=self.user.pk, is_active=True).exists():
            return False
        return self.holds is None or self.holds()


def session_user(key: str) -> User | None:
    """The active user of a Django session."""
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated or not user.is_active:
        return None
    return user
