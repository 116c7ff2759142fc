"""A person's verdict on an answer of their own conversation."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.access import message_for
from chat.api.views import ProjectView
from chat.models import Feedback, Message
from chat.models.feedback import COMMENT_LENGTH
from copilot_site.lib.errors import Conflict


class NotAnAnswer(Conflict):
    code = "not_an_answer"


class FeedbackSerializer(serializers.ModelSerializer[Feedback]):
    message_id = serializers.UUIDField(read_only=True)
    comment = serializers.CharField(
        max_length=COMMENT_LENGTH, required=False, allow_blank=True, default=""
    )

    class Meta:
        model = Feedback
        fields = ["message_id", "value", "comment", "created_at", "updated_at"]
        read_only_fields = ["created_at", "updated_at"]


class MessageFeedback(ProjectView):
    @extend_schema(request=FeedbackSerializer, responses=FeedbackSerializer)
    def post(self, request: Request, project_id: str, message_id: str) -> Response:
        """Say what you think of an answer; said again, it replaces what you said."""
        message = message_for(self.person, self.project, message_id)
        form = FeedbackSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        if message.role != Message.Role.ASSISTANT:
            raise NotAnAnswer(gettext("Only answers of the copilot can be rated."))
        said: dict[str, Any] = {**form.validated_data, "updated_at": timezone.now()}
        feedback, _ = Feedback.objects.update_or_create(message=message, defaults=said)
        return Response(FeedbackSerializer(feedback).data)

    @extend_schema(responses={204: OpenApiResponse(description="Done; no body.")})
    def delete(self, request: Request, project_id: str, message_id: str) -> Response:
        """Take it back."""
        message = message_for(self.person, self.project, message_id)
        Feedback.objects.filter(message=message).delete()
        return Response(status=204)
