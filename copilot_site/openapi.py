"""The API's description for programs, and as a page to try it out."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import get_script_prefix
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
def openapi_json(request: HttpRequest) -> JsonResponse:
    # Reads all views, which read the settings that name it: not when it is imported.
    from copilot_site.description import description

    servers = [{"url": get_script_prefix().rstrip("/") or "/"}]
    return JsonResponse({**description(), "servers": servers})


@require_safe
@ensure_csrf_cookie
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "docs.html")
