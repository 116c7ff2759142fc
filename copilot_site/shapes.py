"""Shapes of what belongs to no app, for the API's description."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

ERROR: dict[str, Any] = {
    "type": "object",
    "description": "`code` is for programs, `message` for people.",
    "required": ["code", "message", "detail"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "detail": {"type": "string", "description": "As GNS3's clients expect it."},
        "run_id": {"type": ["string", "null"], "format": "uuid"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string"},
                    "message": {"type": "string"},
                },
            },
        },
    },
}


class ModelShape(serializers.Serializer[Any]):
    model = serializers.CharField()
    is_offline = serializers.BooleanField()


class MeShape(serializers.Serializer[Any]):
    user_id = serializers.CharField()
    username = serializers.CharField()
    display_name = serializers.CharField()
    is_staff = serializers.BooleanField()
    llm = ModelShape(allow_null=True)
    web_search = serializers.BooleanField(help_text="Whether the web can be searched.")


class VersionShape(serializers.Serializer[Any]):
    version = serializers.CharField()
    local = serializers.BooleanField()
    copilot = serializers.BooleanField()


class Me(APIView):
    @extend_schema(responses=MeShape)
    def get(self, request: Request) -> Response:
        """Who I am, and which model answers me; `llm` is null when none would."""
        raise NotImplementedError


class Version(APIView):
    @extend_schema(auth=[], responses=VersionShape)
    def get(self, request: Request) -> Response:
        """As GNS3 tells it, so that its clients know which API this is."""
        raise NotImplementedError


# By the name of the address.
OPERATIONS: dict[str, type[APIView]] = {"me": Me, "version": Version}
