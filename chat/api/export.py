"""A session as a file."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from chat.api.shapes import ExportShape
from chat.api.views import ProjectView
from chat.export import as_markdown, as_openai, file_name


class ExportFormatSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(
        choices=["markdown", "json"],
        default="markdown",
        help_text="Markdown to read, or messages in OpenAI's format.",
    )


class SessionExport(ProjectView):
    @extend_schema(
        parameters=[ExportFormatSerializer],
        responses={
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "application/json"): ExportShape,
        },
    )
    def get(self, request: Request, project_id: str, session_id: str) -> HttpResponse:
        """Questions, answers, tool calls and their outputs, as a download."""
        session = self.session(request)
        form = ExportFormatSerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        response: HttpResponse
        if form.validated_data["format"] == "json":
            response, extension = JsonResponse(as_openai(session)), "json"
        else:
            text = as_markdown(session)
            response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
            extension = "md"
        name = file_name(session, extension)
        response["Content-Disposition"] = str(content_disposition_header(True, name))
        return response
