"""Sessions, runs and requests as the API shows and takes them."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.shapes import RunShape
from chat.models import ChatSession, Run
from chat.models.session import TITLE_LENGTH


class ChatSessionSerializer(serializers.ModelSerializer[ChatSession]):
    """All fields of a session; `user_id` and `project_id` are text, as in GNS3."""

    user_id = serializers.SerializerMethodField()
    project_id = serializers.SerializerMethodField()
    active_run = serializers.SerializerMethodField()
    profile = serializers.SerializerMethodField()

    class Meta:
        model = ChatSession
        fields = [
            "id",
            "thread_id",
            "user_id",
            "project_id",
            "title",
            "message_count",
            "llm_calls_count",
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "last_message_at",
            "created_at",
            "updated_at",
            "metadata",
            "stats",
            "pinned",
            "active_run",
            "profile",
        ]

    def get_user_id(self, session: ChatSession) -> str:
        return str(session.user_id)

    def get_project_id(self, session: ChatSession) -> str | None:
        return session.project.project_id if session.project else None

    def get_profile(self, session: ChatSession) -> str:
        """Of the newest round; the next one has it too, unless another is asked for."""
        return session.last_profile() or settings.DEFAULT_PROFILE

    @extend_schema_field(RunShape(allow_null=True))
    def get_active_run(self, session: ChatSession) -> dict[str, Any] | None:
        # The list view has prefetched it: one query for all sessions.
        active = getattr(session, "active_runs", None)
        if active is None:
            active = list(session.runs.active())
        return run_json(active[0]) if active else None


class TitleSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(
        min_length=1, max_length=TITLE_LENGTH, trim_whitespace=True
    )


class NewSessionSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(
        max_length=TITLE_LENGTH, required=False, allow_blank=True, default=""
    )


class MessageField(serializers.CharField):
    """A person's text; DRF's own would refuse it for a NUL."""

    def to_internal_value(self, data: Any) -> str:
        # Neither database nor providers take it; the person meant nothing by it.
        return super().to_internal_value(data).replace("\x00", "")


class ChatRequestSerializer(serializers.Serializer[Any]):
    """S1's request, with what we added."""

    message = MessageField(trim_whitespace=False, max_length=settings.MESSAGE_LENGTH)
    session_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    stream = serializers.BooleanField(default=True)
    temperature = serializers.FloatField(
        min_value=0.0, max_value=2.0, required=False, allow_null=True, default=None
    )
    max_tokens = serializers.IntegerField(
        min_value=1, max_value=10_000_000, required=False, allow_null=True, default=None
    )
    mode = serializers.ChoiceField(choices=["text"], default="text")
    profile = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=100,
        default=None,
        help_text="Of `GET /v3/profiles`; else the session's last, else the site's.",
    )
    multitask_strategy = serializers.ChoiceField(
        choices=["reject", "enqueue", "interrupt"], default="reject"
    )

    document_ids = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        allow_null=True,
        default=None,
        max_length=100,
        help_text="Files that it comes with; else all that wait in the session.",
    )

    def validate_message(self, message: str) -> str:
        if not message.strip():
            raise serializers.ValidationError("The message is empty.")
        return message


def run_json(run: Run) -> dict[str, Any]:
    """A run in short, as lists and answers carry it."""
    return {
        "id": str(run.pk),
        "round": run.round,
        "status": run.status,
        "reason": run.reason,
        "error": run.error or None,
        "error_code": run.error_code or None,
        "attempt": run.attempt,
        "profile": run.profile,
        "profile_version": run.profile_version,
        "message_count": run.message_count,
        "llm_calls_count": run.llm_calls_count,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }
