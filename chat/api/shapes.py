"""Shapes of answers that are built by hand, for the API's description."""

from typing import Any

from rest_framework import serializers

from chat.models import Approval, Message
from chat.models.run import Status


class RunShape(serializers.Serializer[Any]):
    """A round: a user message and all that follows until the answer."""

    id = serializers.UUIDField()
    round = serializers.IntegerField(min_value=1)
    status = serializers.ChoiceField(choices=Status.choices)
    reason = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_null=True)
    error_code = serializers.CharField(allow_null=True)
    attempt = serializers.IntegerField(min_value=0)
    profile = serializers.CharField()
    profile_version = serializers.IntegerField(min_value=1, allow_null=True)
    message_count = serializers.IntegerField(min_value=0)
    llm_calls_count = serializers.IntegerField(min_value=0)
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class FunctionShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    arguments = serializers.CharField(help_text="JSON text.")


class OpenAIToolCallShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    type = serializers.ChoiceField(choices=["function"])
    function = FunctionShape()


class OpenAIMessageShape(serializers.Serializer[Any]):
    """A stored turn in OpenAI's format."""

    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Message.Role.choices)
    content = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    name = serializers.CharField(required=False)
    tool_call_id = serializers.CharField(required=False)
    tool_calls = OpenAIToolCallShape(many=True, required=False)
    metadata = serializers.DictField(required=False)


class HistoryShape(serializers.Serializer[Any]):
    thread_id = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True)
    messages = OpenAIMessageShape(many=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    llm_calls = serializers.IntegerField(min_value=0)


class ExportShape(serializers.Serializer[Any]):
    thread_id = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True)
    project_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    exported_at = serializers.DateTimeField()
    messages = OpenAIMessageShape(many=True)


class ApprovalShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    tool_call_id = serializers.CharField()
    tool_name = serializers.CharField()
    status = serializers.ChoiceField(choices=Approval.Status.choices)
    requested_at = serializers.DateTimeField()


class StoppedShape(serializers.Serializer[Any]):
    stopped = serializers.BooleanField(help_text="False: nothing was running.")


class DeletedShape(serializers.Serializer[Any]):
    deleted = serializers.IntegerField(min_value=0, help_text="How many sessions.")


class AcceptedShape(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    round = serializers.IntegerField(min_value=1)
    status = serializers.ChoiceField(choices=Status.choices)


class UsageShape(serializers.Serializer[Any]):
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)


class WholeAnswerShape(AcceptedShape):
    content = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_null=True)
    code = serializers.CharField(allow_null=True)
    messages = OpenAIMessageShape(many=True)
    usage = UsageShape()
