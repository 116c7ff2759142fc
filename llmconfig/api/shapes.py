"""What these addresses answer, for the API's description."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from llmconfig.kinds import ModelType


class ConfigShape(serializers.Serializer[Any]):
    """In GNS3's shape; `config.api_key` is always null, `config.key` its state."""

    config_id = serializers.CharField()
    name = serializers.CharField()
    model_type = serializers.ChoiceField(choices=ModelType.choices)
    config = serializers.DictField()
    user_id = serializers.CharField(allow_null=True)
    group_id = serializers.CharField(allow_null=True)
    is_default = serializers.BooleanField()
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class SourcedShape(ConfigShape):
    source = serializers.ChoiceField(  # type: ignore[assignment]  # GNS3's name for it
        choices=["user", "group", "site"]
    )
    group_name = serializers.CharField(allow_null=True)


class AnsweringShape(serializers.Serializer[Any]):
    """Which model answers, why, and which go on after it."""

    config_id = serializers.CharField(allow_null=True)
    model = serializers.CharField()
    is_offline = serializers.BooleanField()
    reason = serializers.CharField()
    fallbacks = serializers.ListField(child=serializers.CharField())


class InheritedShape(serializers.Serializer[Any]):
    configs = SourcedShape(many=True)
    default_config = SourcedShape(allow_null=True)
    total = serializers.IntegerField()
    answering = AnsweringShape(allow_null=True)


class ListShape(serializers.Serializer[Any]):
    configs = ConfigShape(many=True)
    default_config = ConfigShape(allow_null=True)
    total = serializers.IntegerField()


class TriedShape(serializers.Serializer[Any]):
    """A stored config by its id, values that are not stored yet, or both."""

    config_id = serializers.CharField(required=False)
    base_url = serializers.CharField(required=False)
    model = serializers.CharField(required=False)
    api_key = serializers.CharField(required=False)


class ProbeUsageShape(serializers.Serializer[Any]):
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)


class ReportShape(serializers.Serializer[Any]):
    """What was called, and in words what came back."""

    ok = serializers.BooleanField()
    address = serializers.CharField()
    model = serializers.CharField()
    status = serializers.IntegerField(allow_null=True)
    elapsed_ms = serializers.IntegerField()
    first_token_ms = serializers.IntegerField(allow_null=True)
    streaming = serializers.BooleanField(allow_null=True)
    usage = ProbeUsageShape(allow_null=True)
    tool_calls = serializers.BooleanField(
        allow_null=True, help_text="null: not refused, but it did not call either."
    )
    text = serializers.CharField(help_text="The model's first words.")
    message = serializers.CharField()
    hint = serializers.CharField()


class ModelsShape(serializers.Serializer[Any]):
    models = serializers.ListField(child=serializers.CharField())


class VersionSeenShape(serializers.Serializer[Any]):
    expected_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="409 if the config has another version by now.",
    )


class UserTest(APIView):
    @extend_schema(request=TriedShape, responses=ReportShape)
    def post(self, request: Request, user_id: str) -> Response:
        """Try a config out: one tiny question, and one more that wants a tool."""
        raise NotImplementedError


class UserModels(APIView):
    @extend_schema(request=TriedShape, responses=ModelsShape)
    def post(self, request: Request, user_id: str) -> Response:
        """The names of the models that the provider offers."""
        raise NotImplementedError


class GroupTest(APIView):
    @extend_schema(request=TriedShape, responses=ReportShape)
    def post(self, request: Request, group_id: str) -> Response:
        """Try a config of the group out."""
        raise NotImplementedError


class GroupModels(APIView):
    @extend_schema(request=TriedShape, responses=ModelsShape)
    def post(self, request: Request, group_id: str) -> Response:
        """The names of the models that the provider offers."""
        raise NotImplementedError


# By the name of the address.
OPERATIONS: dict[str, type[APIView]] = {
    "user-llm-config-test": UserTest,
    "user-llm-config-models": UserModels,
    "group-llm-config-test": GroupTest,
    "group-llm-config-models": GroupModels,
}
