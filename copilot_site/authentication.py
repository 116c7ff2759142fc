"""Who is asking: one answer for the DRF views, the async views and the sockets.

A Django session (with CSRF for unsafe methods, an Origin on sockets) or
`Authorization: Bearer` with a token of any kind that we know. A token in a query string
is refused: it would stand in logs.
"""

from http.cookies import CookieError, SimpleCookie
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.request import validate_host
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from copilot_site.bearer import (
    Place,
    identity_of_token,
    in_waiting_thread,
    is_of_gns3,
)
from copilot_site.identity import (
    CsrfFailed,
    Identity,
    NotAuthenticated,
    session_user,
)
from copilot_site.lib.orm import in_orm_thread

__all__ = [
    "Authentication",
    "CsrfFailed",
    "Identity",
    "NotAuthenticated",
    "authenticate",
    "authenticate_scope",
    "identify",
    "identify_scope",
    "identify_token",
    "identity_of_token",
    "place_of_scope",
]


def authenticate(request: HttpRequest) -> Identity:
    """The request's identity. Raises NotAuthenticated, CsrfFailed."""
    if raw := _bearer(request.headers.get("Authorization", "")):
        return identity_of_token(raw, _place_of(request))
    user = request.user
    if not user.is_authenticated or not user.is_active:
        raise NotAuthenticated
    try:
        SessionAuthentication().enforce_csrf(cast(Request, request))
    except APIException as error:
        raise CsrfFailed(str(error.detail)) from None
    return Identity(user, session_key=request.session.session_key)


async def identify(request: HttpRequest) -> Identity:
    """The same from a coroutine."""
    if is_of_gns3(_bearer(request.headers.get("Authorization", ""))):
        return await in_waiting_thread(authenticate)(request)
    return await in_orm_thread(authenticate)(request)


def authenticate_scope(scope: dict[str, Any]) -> Identity | None:
    """A socket's identity from its headers; None: it has to send a token first.

    Raises NotAuthenticated for a wrong token, or a cookie from a foreign page.
    """
    if raw := _bearer_of_scope(scope):
        return identity_of_token(raw, place_of_scope(scope))
    headers = _headers(scope)
    key = _cookie(headers.get("cookie", ""), settings.SESSION_COOKIE_NAME)
    user = session_user(key) if key else None
    if user is None:
        return None
    if not _is_own_origin(headers.get("origin", ""), headers.get("host", "")):
        raise NotAuthenticated("Sockets of a browser must come from this site.")
    return Identity(user, session_key=key)


async def identify_scope(scope: dict[str, Any]) -> Identity | None:
    """The same from a coroutine."""
    if is_of_gns3(_bearer_of_scope(scope)):
        return await in_waiting_thread(authenticate_scope)(scope)
    return await in_orm_thread(authenticate_scope)(scope)


async def identify_token(raw: str, scope: dict[str, Any]) -> Identity:
    """Of a token that came as a frame of this socket."""
    run = in_waiting_thread if is_of_gns3(raw) else in_orm_thread
    return await run(identity_of_token)(raw, place_of_scope(scope))


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


def _place_of(request: HttpRequest) -> Place:
    return Place.of(request.path, request.headers.get("X-GNS3-Server", ""))


def place_of_scope(scope: dict[str, Any]) -> Place:
    return Place.of(scope.get("path", ""), _headers(scope).get("x-gns3-server", ""))


def _headers(scope: dict[str, Any]) -> dict[str, str]:
    return {
        key.decode("latin1"): value.decode("latin1") for key, value in scope["headers"]
    }


def _bearer_of_scope(scope: dict[str, Any]) -> str:
    """From the header, or a subprotocol that is never echoed."""
    if raw := _bearer(_headers(scope).get("authorization", "")):
        return raw
    for protocol in scope.get("subprotocols", []):
        if protocol.startswith("bearer."):
            return str(protocol).removeprefix("bearer.")
    return ""


def _is_own_origin(origin: str, host: str) -> bool:
    parts = urlsplit(origin)
    if not parts.hostname:
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    return parts.netloc == host and validate_host(
        parts.hostname, settings.ALLOWED_HOSTS
    )
