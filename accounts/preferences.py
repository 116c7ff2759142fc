"""GET and PATCH of what I chose for all my devices."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.language import choose_language, language_of, remember_in


class PreferencesSerializer(serializers.Serializer[Any]):
    language = serializers.CharField(allow_blank=True, max_length=16)


class Preferences(APIView):
    def get(self, request: Request) -> Response:
        return Response(_preferences(cast(User, request.user)))

    def patch(self, request: Request) -> Response:
        """Counts for the interface, for titles and for answers."""
        form = PreferencesSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        user, language = cast(User, request.user), form.validated_data["language"]
        choose_language(user, language)
        response = Response(_preferences(user))
        remember_in(response, language)
        return response


def _preferences(user: User) -> dict[str, Any]:
    languages = [{"code": code, "name": name} for code, name in settings.LANGUAGES]
    return {"language": language_of(user), "languages": languages}
