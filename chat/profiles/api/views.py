"""The profiles that I may use, in my language."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import get_language
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.profiles.active import ActiveProfile, profiles_of


class ProfileShape(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="What a request's `profile` names.")
    version = serializers.IntegerField(min_value=1)
    is_default = serializers.BooleanField()
    agent = serializers.ChoiceField(choices=["lab", "grounded"])
    title = serializers.CharField()
    description = serializers.CharField()
    greeting = serializers.CharField(allow_blank=True)
    questions = serializers.ListField(child=serializers.CharField())
    tools = serializers.ListField(child=serializers.CharField())
    approval = serializers.ChoiceField(choices=["ask", "never_change", "trust"])
    languages = serializers.ListField(child=serializers.CharField())


class ProfileList(APIView):
    @extend_schema(responses=ProfileShape(many=True))
    def get(self, request: Request) -> Response:
        """Those I may start a round with, the site's default first."""
        language = get_language() or settings.LANGUAGE_CODE
        profiles = profiles_of(cast(User, request.user))
        return Response([_shown(profile, language) for profile in profiles])


def _shown(profile: ActiveProfile, language: str) -> dict[str, Any]:
    texts = profile.said_in(language)
    return {
        "name": profile.name,
        "version": profile.version,
        "is_default": profile.name == settings.DEFAULT_PROFILE,
        "agent": profile.agent,
        "title": texts.title,
        "description": texts.description,
        "greeting": texts.greeting,
        "questions": list(texts.questions),
        "tools": list(profile.tools),
        "approval": profile.approval,
        "languages": list(profile.languages),
    }
