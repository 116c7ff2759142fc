"""A decision as clients send it, by REST or in a frame of a socket."""

from typing import Any

from rest_framework import serializers

from chat.approvals import Decision
from llmconfig.deltas import storable

# More than any tool takes, and less than breaks a reader of JSON.
_DEEPEST = 50


class DecisionSerializer(serializers.Serializer[Any]):
    """One decision; `arguments` are a person's own in place of the model's."""

    approval_id = serializers.UUIDField()
    decision = serializers.ChoiceField(choices=["approve", "reject"])
    arguments = serializers.DictField(required=False, allow_null=True, default=None)
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, default=""
    )

    def validate_arguments(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if _is_deeper(value, _DEEPEST):
            raise serializers.ValidationError("This is nested too deeply.")
        return value


class DecisionsSerializer(serializers.Serializer[Any]):
    decisions = serializers.ListField(
        child=DecisionSerializer(), min_length=1, max_length=100
    )


def as_decision(values: dict[str, Any]) -> Decision:
    """Of what a DecisionSerializer has validated."""
    return Decision(
        approval_id=str(values["approval_id"]),
        is_approved=values["decision"] == "approve",
        arguments=storable(values["arguments"]),
        reason=values["reason"],
    )


def _is_deeper(value: object, depth: int) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inner, list):
        return False
    return depth == 0 or any(_is_deeper(item, depth - 1) for item in inner)
