"""The language a person chose: a row for workers, a cookie for pages."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.utils import translation
from django.utils.translation import gettext

from accounts.models import Preference
from copilot_site.lib.errors import UserFacingError


class LanguageUnknown(UserFacingError):
    code = "language_unknown"
    status = 422


def language_of(user: User) -> str:
    """A code of settings.LANGUAGES; "" where the person chose none."""
    chosen = Preference.objects.filter(user=user.pk).values_list("language", flat=True)
    return chosen.first() or ""


def language_for(user: User) -> str:
    """What a worker writes to this person in: the site's where they chose none."""
    return language_of(user) or settings.LANGUAGE_CODE


def choose_language(user: User, language: str) -> None:
    """Raises LanguageUnknown; "" gives the choice back to the browser."""
    known = dict(settings.LANGUAGES)
    if language and language not in known:
        raise LanguageUnknown(
            gettext("There is no language “%(language)s” here. Languages: %(known)s.")
            % {"language": language[:20], "known": ", ".join(known)}
        )
    Preference.objects.update_or_create(user=user, defaults={"language": language})


def remember_in(response: HttpResponseBase, language: str) -> None:
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
    """Signs in, and brings the person's language to this browser.

    `?language=de` is a choice: the page's language now, and the person's from then on.
    """

    redirect_authenticated_user = True

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        self.chosen = request.GET.get("language", "")
        if self.chosen not in dict(settings.LANGUAGES):
            self.chosen = ""
            return super().dispatch(request, *args, **kwargs)
        with translation.override(self.chosen):
            response = super().dispatch(request, *args, **kwargs)
            if isinstance(response, SimpleTemplateResponse):
                response.render()
        remember_in(response, self.chosen)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(languages=settings.LANGUAGES, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        user = form.get_user()
        if self.chosen:
            choose_language(user, self.chosen)
        elif language := language_of(user):
            remember_in(response, language)
        return response
