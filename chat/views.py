"""The chat page; everything else it needs comes over REST and the WebSocket."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
@never_cache
@login_required
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    bootstrap = {
        "root": get_script_prefix(),
        "bytes": settings.DOCUMENT_BYTES,
        "languages": [
            {"code": code, "name": name} for code, name in settings.LANGUAGES
        ],
        "urls": {
            "login": reverse("login"),
            "logout": reverse("logout"),
            "admin": reverse("admin:index"),
            "directory": reverse("directory"),
            "knowledge": reverse("knowledge-page"),
            "memory": reverse("memory-page"),
            "settings": reverse("settings"),
        },
    }
    return render(request, "chat/page.html", {"bootstrap": bootstrap})
