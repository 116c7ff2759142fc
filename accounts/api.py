"""Logins, who I am, and personal API tokens: parse, one call, answer."""

from datetime import datetime
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import logins
from accounts.keys import create_token
from accounts.models import ApiToken
from copilot_site.api import MethodNotAllowed, api_view, json_body
from copilot_site.api_errors import error_response
from copilot_site.authentication import Identity
from copilot_site.lib.errors import NotFound, UserFacingError
from copilot_site.lib.orm import in_orm_thread


class LoginNeeded(UserFacingError):
    code = "login_needed"
    status = 403


@csrf_exempt
async def log_in(request: HttpRequest) -> HttpResponse:
    """POST username and password; a bearer token, as GNS3 gives it."""
    try:
        _post_only(request)
        form = request.POST.dict() if request.POST else json_body(request)
        username, password = (
            str(form.get(name, "")) for name in ("username", "password")
        )
        tokens = await in_orm_thread(logins.log_in)(request, username, password)
        return JsonResponse(tokens)
    except UserFacingError as error:
        return error_response(error)


@csrf_exempt
async def refresh(request: HttpRequest) -> HttpResponse:
    """POST refresh_token; a new access token."""
    try:
        _post_only(request)
        raw = str(json_body(request).get("refresh_token", ""))
        return JsonResponse(await in_orm_thread(logins.refreshed)(raw))
    except UserFacingError as error:
        return error_response(error)


@csrf_exempt
async def log_out(request: HttpRequest) -> HttpResponse:
    """POST refresh_token, or just with the access token: both are worthless then."""
    try:
        _post_only(request)
        raw = str(json_body(request).get("refresh_token") or "")
        if not raw:
            raw = request.headers.get("Authorization", "").partition(" ")[2].strip()
        await in_orm_thread(logins.log_out)(raw)
        return HttpResponse(status=204)
    except UserFacingError as error:
        return error_response(error)


def _post_only(request: HttpRequest) -> None:
    if request.method != "POST":
        raise MethodNotAllowed("Allowed: POST.")


@api_view("GET")
async def who_am_i(request: HttpRequest, identity: Identity) -> HttpResponse:
    """In GNS3's shape."""
    user = identity.user
    last_login = user.last_login.isoformat() if user.last_login else None
    return JsonResponse(
        {
            "user_id": str(user.pk),
            "username": user.get_username(),
            "full_name": user.get_full_name() or None,
            "email": user.email or None,
            "is_active": user.is_active,
            "is_superadmin": user.is_superuser,
            "last_login": last_login,
            "created_at": user.date_joined.isoformat(),
        }
    )


class NewTokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This time is over.")
        return value


class ApiTokenList(APIView):
    """My tokens."""

    def get(self, request: Request) -> Response:
        tokens = ApiToken.objects.filter(user=_person(request), revoked_at=None)
        return Response([_token_json(token) for token in tokens])

    def post(self, request: Request) -> Response:
        """A new one: `api_key` is shown this once."""
        user = _person(request)
        form = NewTokenSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        token, raw = create_token(
            user=user,
            name=form.validated_data["name"],
            expires_at=form.validated_data.get("expires_at"),
        )
        return Response({**_token_json(token), "api_key": raw}, status=201)


class ApiTokenDetail(APIView):
    def delete(self, request: Request, token_id: int) -> Response:
        rows = ApiToken.objects.filter(user=_person(request), pk=token_id)
        token = rows.filter(revoked_at=None).first()
        if token is None:
            raise NotFound(gettext("There is no such API token."))
        token.revoke()
        return Response(status=204)


def _person(request: Request) -> User:
    # A token that expires or is narrow must not make one that is neither.
    identity = request.auth
    if isinstance(identity, Identity) and identity.kind != "login":
        raise LoginNeeded(
            gettext("Log in with name and password to manage API tokens.")
        )
    return cast(User, request.user)


def _token_json(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "beginning": token.beginning,
        "created_at": token.created_at.isoformat(),
        "last_used_at": token.last_used_at and token.last_used_at.isoformat(),
        "expires_at": token.expires_at and token.expires_at.isoformat(),
    }
