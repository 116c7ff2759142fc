"""What belongs to no app: who I am, version, health."""

from typing import Any

from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.utils import translation
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

from chat.health import checks
from chat.websearch.search import web_search
from copilot_site.api import api_view
from copilot_site.authentication import Identity
from copilot_site.lib.orm import in_orm_thread
from llmconfig.selection import LLMNotConfigured, choose_config


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
        "web_search": web_search() is not None,
    }


@require_safe
def texts(request: HttpRequest, language: str) -> HttpResponseBase:
    """The interface's texts in one language, as a script that a browser may keep."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        response = JavaScriptCatalog.as_view()(request)
    patch_cache_control(response, public=True, max_age=3600)
    return response


async def version(request: HttpRequest) -> HttpResponse:
    """As GNS3 tells it, so that its clients know which API this is."""
    return JsonResponse({"version": "3.0.6", "local": False, "copilot": True})


async def health(request: HttpRequest) -> HttpResponse:
    """200 when database, Redis and a worker are there; else 503 and what is not."""
    results = await checks()
    status = 200 if all(value == "ok" for value in results.values()) else 503
    verdict = "ok" if status == 200 else "unavailable"
    return JsonResponse({"status": verdict, **results}, status=status)
