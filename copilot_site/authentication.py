"""Who is asking: one answer for the DRF views, the async views and the sockets.

A Django session (with CSRF for unsafe methods, an Origin on sockets) or
`Authorization: Bearer` with a token of ours. A token in a query string is refused:
it would stand in logs.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.http.request import validate_host
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.exceptions import AuthenticationFailed as TokenRefused
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError

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
class Identity:
    """A person, and for how long this way of knowing them holds."""

    user: User
    expires_at: datetime | None = None
    session_key: str | None = None

    def is_still_valid(self) -> bool:
        """Reads the database: logged out, expired or made inactive meanwhile?"""
        if self.expires_at is not None and datetime.now(UTC) >= self.expires_at:
            return False
        if self.session_key is not None:
            user = _session_user(self.session_key)
            return user is not None and user.pk == self.user.pk
        users = get_user_model().objects
        return users.filter(pk=self.user.pk, is_active=True).exists()


def authenticate(request: HttpRequest) -> Identity:
    """The request's identity. Raises NotAuthenticated, CsrfFailed."""
    if raw := _bearer(request.headers.get("Authorization", "")):
        return identity_of_token(raw)
    user = request.user
    if not user.is_authenticated or not user.is_active:
        raise NotAuthenticated
    try:
        SessionAuthentication().enforce_csrf(cast(Request, request))
    except APIException as error:
        raise CsrfFailed(str(error.detail)) from None
    return Identity(user, session_key=request.session.session_key)


def authenticate_scope(scope: dict[str, Any]) -> Identity | None:
    """A socket's identity from its headers; None: it has to send a token first.

    Raises NotAuthenticated for a wrong token, or a cookie from a foreign page.
    """
    headers = {
        key.decode("latin1"): value.decode("latin1") for key, value in scope["headers"]
    }
    if raw := _bearer(headers.get("authorization", "")):
        return identity_of_token(raw)
    for protocol in scope.get("subprotocols", []):
        if protocol.startswith("bearer."):
            return identity_of_token(protocol.removeprefix("bearer."))
    key = _cookie(headers.get("cookie", ""), settings.SESSION_COOKIE_NAME)
    user = _session_user(key) if key else None
    if user is None:
        return None
    if not _is_own_origin(headers.get("origin", ""), headers.get("host", "")):
        raise NotAuthenticated("Sockets of a browser must come from this site.")
    return Identity(user, session_key=key)


def identity_of_token(raw: str) -> Identity:
    """Raises NotAuthenticated for a token that is wrong, expired or of no user."""
    checker = JWTAuthentication()
    try:
        token = checker.get_validated_token(raw.encode())
        user = checker.get_user(token)
    except (InvalidToken, TokenError, TokenRefused):
        raise NotAuthenticated("The token is not valid, or no longer.") from None
    return Identity(
        cast(User, user), expires_at=datetime.fromtimestamp(token["exp"], UTC)
    )


class Authentication(BaseAuthentication):
    """The same for DRF's views."""

    header: ClassVar[str] = 'Bearer realm="copilot"'

    def authenticate(self, request: Request) -> tuple[User, Identity] | None:
        try:
            identity = authenticate(request._request)
        except NotAuthenticated:
            if _bearer(request.headers.get("Authorization", "")):
                raise
            return None
        return identity.user, identity

    def authenticate_header(self, request: Request) -> str:
        return self.header


def _bearer(header: str) -> str:
    kind, _, token = header.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _cookie(header: str, name: str) -> str:
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _session_user(key: str) -> User | None:
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated or not user.is_active:
        return None
    return user


def _is_own_origin(origin: str, host: str) -> bool:
    parts = urlsplit(origin)
    if not parts.hostname:
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    return parts.netloc == host and validate_host(
        parts.hostname, settings.ALLOWED_HOSTS
    )
