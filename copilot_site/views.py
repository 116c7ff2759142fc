"""What belongs to no app: log-in, who I am, version, health."""

from typing import Any

from django.contrib.auth import authenticate as check_password
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import RefreshToken

from chat.health import checks
from copilot_site.api import MethodNotAllowed, api_view, json_body
from copilot_site.api_errors import error_response
from copilot_site.authentication import (
    Identity,
    NotAuthenticated,
    identity_of_token,
)
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from llmconfig.selection import LLMNotConfigured, choose_config


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
    results = await checks()
    status = 200 if all(value == "ok" for value in results.values()) else 503
    verdict = "ok" if status == 200 else "unavailable"
    return JsonResponse({"status": verdict, **results}, status=status)
