"""The language a person chose: a row for workers, a cookie for pages."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpResponse

from accounts.models import Preference
from copilot_site.lib.errors import UserFacingError


class LanguageUnknown(UserFacingError):
    code = "language_unknown"
    status = 422


def language_of(user: User) -> str:
    """A code of settings.LANGUAGES; "" where the person chose none."""
    chosen = Preference.objects.filter(user=user.pk).values_list("language", flat=True)
    return chosen.first() or ""


def choose_language(user: User, language: str) -> None:
    """Raises LanguageUnknown; "" gives the choice back to the browser."""
    known = dict(settings.LANGUAGES)
    if language and language not in known:
        raise LanguageUnknown(
            f"There is no language “{language[:20]}” here. Languages: "
            f"{', '.join(known)}."
        )
    Preference.objects.update_or_create(user=user, defaults={"language": language})


def remember_in(response: HttpResponse, language: str) -> None:
    """For LocaleMiddleware, which so needs no query."""
    name = settings.LANGUAGE_COOKIE_NAME
    if not language:
        response.delete_cookie(name, path=settings.LANGUAGE_COOKIE_PATH)
        return
    response.set_cookie(
        name,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        path=settings.LANGUAGE_COOKIE_PATH,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite=settings.LANGUAGE_COOKIE_SAMESITE,
    )


class LoginPage(LoginView):
    """Signs in, and brings the person's language to this browser."""

    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        if language := language_of(form.get_user()):
            remember_in(response, language)
        return response
