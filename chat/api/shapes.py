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


class CommandLineShape(serializers.Serializer[Any]):
    command = serializers.CharField()
    effect = serializers.ChoiceField(choices=["read", "change", "refused"])
    origin = serializers.ChoiceField(
        choices=["", "person", "output"],
        required=False,
        help_text="Who wrote this line before: the person, or a device's output.",
    )


class DeviceLinesShape(serializers.Serializer[Any]):
    """What would be typed on one device."""

    device = serializers.CharField()
    asked = serializers.CharField(help_text="The device as the call names it.")
    dialect = serializers.CharField(allow_blank=True)
    commands = CommandLineShape(many=True)
    note = serializers.CharField(allow_blank=True)
    before = serializers.CharField(required=False, help_text="Its configuration.")


class ApprovalShape(serializers.Serializer[Any]):
    """A decision on one call; `arguments` are what would run, or has run."""

    id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    tool_call_id = serializers.CharField()
    tool_name = serializers.CharField()
    message_id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Approval.Status.choices)
    arguments = serializers.DictField()
    asked_arguments = serializers.DictField(
        allow_null=True, help_text="The model's, where a person edited them."
    )
    summary = serializers.CharField(required=False)
    devices = DeviceLinesShape(many=True, required=False)
    notes = serializers.ListField(child=serializers.CharField(), required=False)
    question = serializers.CharField(required=False)
    reason = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)


class DecidedShape(serializers.Serializer[Any]):
    run = RunShape()
    approvals = ApprovalShape(many=True)


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
    approvals = ApprovalShape(many=True)
    usage = UsageShape()
