"""What `/api/chat` takes, and shapes of what it answers."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from chat.api.serializers import MessageField
from chat.api.shapes import OpenAIMessageShape, RunShape

_COLLECTIONS = 50
_NAME_LENGTH = 200


class GroundedRequestSerializer(serializers.Serializer[Any]):
    """A question, and where its evidence may come from."""

    message = MessageField(trim_whitespace=False, max_length=settings.MESSAGE_LENGTH)
    conversation_id = serializers.UUIDField(
        required=False, allow_null=True, default=None
    )
    project_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    collections = serializers.ListField(
        child=serializers.CharField(max_length=_NAME_LENGTH),
        max_length=_COLLECTIONS,
        required=False,
        allow_null=True,
        default=None,
        help_text="Names or ids; none given: all that you may read.",
    )
    profile = serializers.CharField(
        required=False, allow_blank=True, max_length=100, default=""
    )

    def validate_message(self, message: str) -> str:
        if not message.strip():
            raise serializers.ValidationError("The message is empty.")
        return message

    def to_internal_value(self, data: Any) -> Any:
        # A misspelt field must not be silently ignored.
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            raise serializers.ValidationError(
                {name: ["This field is not known."] for name in sorted(unknown)}
            )
        return super().to_internal_value(data)


class CitationShape(serializers.Serializer[Any]):
    """A passage; `[n]` in the text points to it."""

    n = serializers.IntegerField(min_value=1)
    id = serializers.CharField()
    kind = serializers.ChoiceField(
        choices=["document", "record", "row", "web", "device", "memory"]
    )
    title = serializers.CharField()
    location = serializers.CharField(allow_blank=True)
    url = serializers.CharField(allow_blank=True)
    time = serializers.CharField(allow_blank=True)
    text = serializers.CharField()
    stale = serializers.BooleanField(required=False)


class ConversationShape(serializers.Serializer[Any]):
    conversation_id = serializers.UUIDField()
    project_id = serializers.UUIDField(allow_null=True)
    title = serializers.CharField(allow_blank=True)
    message_count = serializers.IntegerField(min_value=0)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    active_run = RunShape(allow_null=True)


class ConversationDetailShape(ConversationShape):
    messages = OpenAIMessageShape(many=True)


class ConversationPageSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)


class MessagePageSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=100)
