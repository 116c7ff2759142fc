"""One use of a tool: recorded before and after."""

import uuid

from django.db import models
from django.utils import timezone

from chat.models.message import Message
from chat.models.run import Run


class ToolCall(models.Model):
    """A call the model asked for, and what became of it."""

    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        REFUSED = "refused"
        CANCELLED = "cancelled"
        UNKNOWN = "unknown", "outcome unknown"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="tool_calls")
    message = models.ForeignKey(Message, models.CASCADE, related_name="calls")
    result = models.OneToOneField(
        Message, models.SET_NULL, null=True, blank=True, related_name="answers_call"
    )
    call_id = models.CharField(max_length=255, help_text="The provider's id.")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=255)
    arguments = models.TextField(help_text="JSON text, as the model wrote it.")
    effect = models.CharField(max_length=16, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    evidence = models.JSONField(
        default=dict,
        blank=True,
        help_text="What an answer may cite of the result, facts, and devices changed.",
    )
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    attempt = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["run", "message__sequence", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["message", "call_id"], name="one_call_per_message_and_id"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.status})"
