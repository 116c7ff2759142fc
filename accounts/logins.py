"""Logins by name and password: our own JWTs, one pair a login."""

from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth import authenticate as check_password
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.exceptions import AuthenticationFailed as TokenRefused
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.tokens import RefreshToken, Token

from accounts.models import EndedLogin
from copilot_site.bearer import Place, claims_of
from copilot_site.identity import Identity, NotAuthenticated

# The login's id: the access tokens carry that of their refresh token.
_LOGIN = "login"


def log_in(request: HttpRequest, username: str, password: str) -> dict[str, str]:
    """A pair of tokens. Raises NotAuthenticated, LoginThrottled."""
    user = check_password(request, username=username, password=password)
    if user is None:
        raise NotAuthenticated("Authentication was unsuccessful.")
    user.last_login = timezone.now()
    user.save(update_fields=["last_login"])
    refresh = RefreshToken.for_user(user)
    refresh[_LOGIN] = refresh["jti"]
    return {
        "access_token": str(refresh.access_token),
        "token_type": "bearer",
        "refresh_token": str(refresh),
    }


def refreshed(raw: str) -> dict[str, str]:
    """A new access token. Raises NotAuthenticated."""
    try:
        access = RefreshToken(cast(Any, raw)).access_token
    except TokenError:
        raise NotAuthenticated from None
    # Of a user that is gone, inactive or has a new password meanwhile: refused here.
    _check(access)
    return {"access_token": str(access), "token_type": "bearer"}


def log_out(raw: str) -> None:
    """End the login that this access or refresh token belongs to."""
    try:
        login = _token(raw).get(_LOGIN)
    except NotAuthenticated:
        login = _login_of_refresh(raw)
    if not login:
        raise NotAuthenticated
    now = timezone.now()
    EndedLogin.objects.filter(expires_at__lt=now).delete()
    EndedLogin.objects.get_or_create(
        login_id=login, defaults={"expires_at": now + RefreshToken.lifetime}
    )


def identity_of(raw: str, place: Place) -> Identity | None:
    """None for a token of another kind. Raises NotAuthenticated."""
    claims = claims_of(raw)
    if claims is None or "token_type" not in claims:
        return None
    token = _token(raw)
    user = _check(token)
    return Identity(
        user,
        expires_at=datetime.fromtimestamp(token["exp"], UTC),
        holds=lambda: _still_holds(token),
    )


def _login_of_refresh(raw: str) -> str:
    try:
        return str(RefreshToken(cast(Any, raw)).get(_LOGIN, ""))
    except TokenError:
        raise NotAuthenticated from None


def _token(raw: str) -> Token:
    try:
        return JWTAuthentication().get_validated_token(raw.encode())
    except (InvalidToken, TokenError):
        raise NotAuthenticated("The token is not valid, or no longer.") from None


def _check(token: Token) -> User:
    """Its user, if active, with the same password, and the login was not ended."""
    try:
        user = JWTAuthentication().get_user(token)
    except (InvalidToken, TokenRefused):
        raise NotAuthenticated("The token is not valid, or no longer.") from None
    login = token.get(_LOGIN)
    if login and EndedLogin.objects.filter(login_id=login).exists():
        raise NotAuthenticated("The token is not valid, or no longer.")
    return cast(User, user)


def _still_holds(token: Token) -> bool:
    try:
        _check(token)
    except NotAuthenticated:
        return False
    return True
