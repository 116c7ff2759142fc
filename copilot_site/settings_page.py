"""The page of one's own settings: models, language, memory; each part fills its own."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from llmconfig.kinds import CAPABILITIES, Mode, Operation
from llmconfig.models import LLMConfig


@require_safe
@never_cache
@login_required
@ensure_csrf_cookie
def settings_page(request: HttpRequest) -> HttpResponse:
    bootstrap = {
        "root": get_script_prefix(),
        "urls": {"login": reverse("login"), "admin": reverse("admin:index")},
        "is_staff": request.user.is_staff,
        "choices": {
            "operations": _pairs(Operation.choices),
            "modes": _pairs(Mode.choices),
            "strategies": _pairs(LLMConfig.Strategy.choices),
            "capabilities": list(CAPABILITIES),
        },
    }
    return render(request, "settings/page.html", {"bootstrap": bootstrap})


def _pairs(choices: object) -> list[list[str]]:
    assert isinstance(choices, list)
    return [[str(value), str(label)] for value, label in choices]
