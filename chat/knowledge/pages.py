"""The page of the site's documents; all that it shows comes over REST."""

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
def documents(request: HttpRequest) -> HttpResponse:
    bootstrap = {
        "root": get_script_prefix(),
        "urls": {"login": reverse("login")},
        "isStaff": bool(getattr(request.user, "is_staff", False)),
        "bytes": settings.DOCUMENT_BYTES,
    }
    return render(request, "knowledge/page.html", {"bootstrap": bootstrap})
