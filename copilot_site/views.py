"""What belongs to no app: the frame of async views, log-in, health."""

import functools
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate as check_password
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.request import RawPostDataException
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import APIException
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import RefreshToken

from copilot_site.api_errors import error_response
from copilot_site.authentication import (
    Identity,
    NotAuthenticated,
    authenticate,
    identity_of_token,
)
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from llmconfig.selection import LLMNotConfigured, choose_config

logger = logging.getLogger(__name__)

Answer = Coroutine[Any, Any, HttpResponseBase]


class BadRequest(UserFacingError):
    code = "bad_request"
    status = 400


class MethodNotAllowed(UserFacingError):
    code = "method_not_allowed"
    status = 405


class BodyTooLarge(UserFacingError):
    code = "body_too_large"
    status = 413


def api_view(*methods: str) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """An async view for known people; anticipated errors become JSON."""

    def decorate(view: Callable[..., Answer]) -> Callable[..., Answer]:
        @functools.wraps(view)
        async def wrapped(request: HttpRequest, **path: str) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(f"Allowed: {', '.join(methods)}.")
                identity = await in_orm_thread(authenticate)(request)
                return await view(request, identity, **path)
            except (UserFacingError, APIException) as error:
                return error_response(error, request.path)

        # Cookies are checked by `authenticate`; bearers need no CSRF token.
        return csrf_exempt(wrapped)

    return decorate


def json_body(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object. Raises BadRequest, BodyTooLarge."""
    try:
        if len(request.body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise BodyTooLarge("The request is too large.")
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    except RawPostDataException:
        raise BadRequest("The body could not be read.") from None
    if not isinstance(body, dict):
        raise BadRequest("The body is not a JSON object.")
    return body


@csrf_exempt
async def log_in(request: HttpRequest) -> HttpResponse:
    """POST username and password; a bearer token, as GNS3 gives it."""
    try:
        if request.method != "POST":
            raise MethodNotAllowed("Allowed: POST.")
        return JsonResponse(await in_orm_thread(_tokens)(request))
    except UserFacingError as error:
        return error_response(error)


def _tokens(request: HttpRequest) -> dict[str, str]:
    form = request.POST.dict() if request.POST else json_body(request)
    user = check_password(
        request,
        username=str(form.get("username", "")),
        password=str(form.get("password", "")),
    )
    if user is None:
        raise NotAuthenticated("Authentication was unsuccessful.")
    refresh = RefreshToken.for_user(user)
    return {
        "access_token": str(refresh.access_token),
        "token_type": "bearer",
        "refresh_token": str(refresh),
    }


@csrf_exempt
async def refresh_token(request: HttpRequest) -> HttpResponse:
    """POST refresh_token; a new access token."""
    try:
        if request.method != "POST":
            raise MethodNotAllowed("Allowed: POST.")
        body = json_body(request)
        return JsonResponse(await in_orm_thread(_refreshed)(body))
    except UserFacingError as error:
        return error_response(error)


def _refreshed(body: dict[str, Any]) -> dict[str, str]:
    try:
        access = RefreshToken(body.get("refresh_token", "")).access_token
    except TokenError:
        raise NotAuthenticated from None
    # Of a user that is gone, inactive or has a new password meanwhile: refused here.
    identity_of_token(str(access))
    return {"access_token": str(access), "token_type": "bearer"}


@api_view("GET")
async def me(request: HttpRequest, identity: Identity) -> HttpResponse:
    """Who I am, and which model answers me."""
    return JsonResponse(await in_orm_thread(_me)(identity))


def _me(identity: Identity) -> dict[str, Any]:
    user = identity.user
    try:
        choice = choose_config(user=user)
        llm = {"model": choice.model, "is_offline": choice.is_offline}
    except LLMNotConfigured:
        llm = None
    return {
        "user_id": str(user.pk),
        "username": user.get_username(),
        "display_name": user.get_full_name() or user.get_username(),
        "is_staff": user.is_staff,
        "llm": llm,
    }


async def version(request: HttpRequest) -> HttpResponse:
    """As GNS3 tells it, so that its clients know which API this is."""
    return JsonResponse({"version": "3.0.6", "local": False, "copilot": True})


async def health(request: HttpRequest) -> HttpResponse:
    """200 when database, Redis and a worker are there; else 503 and what is not."""
    from chat.health import checks

    results = await checks()
    status = 200 if all(value == "ok" for value in results.values()) else 503
    verdict = "ok" if status == 200 else "unavailable"
    return JsonResponse({"status": verdict, **results}, status=status)
