"""Configs in GNS3's shape, with what this product knows besides."""

from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError as BadValue
from rest_framework import serializers

from copilot_site.admin_forms import check_address
from copilot_site.lib.fields import Unreadable
from llmconfig.entered import check_extra, check_key
from llmconfig.kinds import CAPABILITIES, Mode, ModelType, Operation
from llmconfig.models import LLMConfig

_SOURCES = ("site", "user", "group")
# Where GNS3's clients send what they have read: never settings of anybody.
_ANSWERED = frozenset(
    {
        *("config", "config_id", "user_id", "group_id", "group_name", "source"),
        *("version", "created_at", "updated_at", "key", "expected_version"),
    }
)


class CapabilitiesSerializer(serializers.Serializer[Any]):
    """null: unknown."""

    tools = serializers.BooleanField(required=False, allow_null=True)
    vision = serializers.BooleanField(required=False, allow_null=True)
    structured_output = serializers.BooleanField(required=False, allow_null=True)
    reasoning = serializers.BooleanField(required=False, allow_null=True)


class ConfigSerializer(serializers.Serializer[Any]):
    """What may be written; other keys are kept as they are, and given back."""

    name = serializers.CharField(max_length=100)
    model_type = serializers.ChoiceField(choices=ModelType.choices, required=False)
    provider = serializers.CharField(max_length=50)
    base_url = serializers.CharField(max_length=500)
    model = serializers.CharField(max_length=255)
    context_limit = serializers.IntegerField(
        min_value=1, max_value=100_000, help_text="In thousands of tokens."
    )
    context_strategy = serializers.ChoiceField(
        choices=LLMConfig.Strategy.choices, required=False
    )
    api_key = serializers.CharField(
        max_length=10_000,
        required=False,
        allow_null=True,
        allow_blank=True,
        write_only=True,
        help_text="Never given back. Left out or null: the stored one stays.",
    )
    temperature = serializers.FloatField(
        min_value=0, max_value=2, required=False, allow_null=True
    )
    max_tokens = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True
    )
    is_default = serializers.BooleanField(required=False)
    is_enabled = serializers.BooleanField(required=False)
    capabilities = CapabilitiesSerializer(required=False)
    prompts_tools = serializers.BooleanField(required=False)
    operations = serializers.ListField(
        child=serializers.ChoiceField(choices=Operation.choices), required=False
    )
    mode = serializers.ChoiceField(choices=Mode.choices, required=False)
    priority = serializers.IntegerField(min_value=0, max_value=32_767, required=False)
    allowed_groups = serializers.PrimaryKeyRelatedField(
        many=True, queryset=Group.objects.all(), required=False
    )
    input_price = serializers.DecimalField(
        max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True
    )
    output_price = serializers.DecimalField(
        max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True
    )
    sends_reasoning = serializers.BooleanField(required=False)
    redacts = serializers.BooleanField(required=False)

    def to_internal_value(self, data: Any) -> Any:
        """Settings may also stand in `config`, as they do in an answer."""
        if isinstance(data, dict) and isinstance(data.get("config"), dict):
            data = {**data["config"], **data}
        values = super().to_internal_value(data)
        known = {*self.fields, *_ANSWERED}
        if extra := {key: data[key] for key in data if key not in known}:
            values["extra"] = _checked(extra)
        return values

    def validate_api_key(self, value: str | None) -> str | None:
        try:
            return None if value is None else check_key(value)
        except BadValue as error:
            raise serializers.ValidationError(error.messages) from None

    def validate_base_url(self, value: str) -> str:
        try:
            return check_address(value)
        except BadValue as error:
            raise serializers.ValidationError(error.messages) from None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """As the model's columns are called."""
        for name, value in attrs.pop("capabilities", {}).items():
            attrs[f"supports_{name}"] = value
        if attrs.get("api_key", "") is None:
            del attrs["api_key"]
        if self.instance is not None and "extra" in attrs:
            attrs["extra"] = _checked({**self.instance.extra, **attrs["extra"]})
        return attrs


def _checked(extra: dict[str, Any]) -> dict[str, Any]:
    try:
        return check_extra(extra)
    except BadValue as error:
        raise serializers.ValidationError({"config": error.messages}) from None


class ConfigUpdateSerializer(ConfigSerializer):
    """Any part of it."""

    expected_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="409 if the config has another version by now.",
    )


def config_json(config: LLMConfig, *, with_source: bool = False) -> dict[str, Any]:
    """As an answer; the key is never in it."""
    settings = {
        **config.extra,
        "name": config.name,
        "provider": config.provider,
        "base_url": config.base_url,
        "model": config.model,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "context_limit": config.context_limit,
        "context_strategy": config.context_strategy,
        "api_key": None,
        "key": key_state(config),
        "capabilities": {
            name: getattr(config, f"supports_{name}") for name in CAPABILITIES
        },
        "prompts_tools": config.prompts_tools,
        "operations": config.operations,
        "mode": config.mode,
        "priority": config.priority,
        "allowed_groups": [group.pk for group in config.allowed_groups.all()],
        "input_price": _number(config.input_price),
        "output_price": _number(config.output_price),
        "sends_reasoning": config.sends_reasoning,
        "redacts": config.redacts,
        "is_enabled": config.is_enabled,
    }
    shown: dict[str, Any] = {
        "config_id": str(config.pk),
        "name": config.name,
        "model_type": config.model_type,
        "config": settings,
        "user_id": str(config.user_id) if config.user_id else None,
        "group_id": str(config.group_id) if config.group_id else None,
        "is_default": config.is_default,
        "version": config.version,
        "created_at": config.created_at.isoformat(),
        "updated_at": config.updated_at.isoformat(),
    }
    if with_source:
        shown["source"] = _SOURCES[bool(config.user_id) + 2 * bool(config.group_id)]
        shown["group_name"] = config.group.name if config.group else None
    return shown


def key_state(config: LLMConfig) -> str:
    """`stored`, `none`, or `unreadable` with today's encryption keys."""
    if isinstance(config.api_key, Unreadable):
        return "unreadable"
    return "stored" if config.api_key else "none"


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
