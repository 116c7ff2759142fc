"""A stored turn: what a person, the model or a tool said."""

import uuid

from django.db import models
from django.utils import timezone

from chat.models.run import Run
from chat.models.session import ChatSession


class Message(models.Model):
    """Ordered by round, then by sequence within the round."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(ChatSession, models.CASCADE, related_name="messages")
    run = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="messages"
    )
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="children"
    )
    round = models.PositiveIntegerField()
    sequence = models.PositiveIntegerField(help_text="Within the round, from 1.")
    role = models.CharField(max_length=16, choices=Role)
    content = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    name = models.CharField(max_length=255, blank=True)
    tool_call_id = models.CharField(max_length=255, blank=True)
    finish_reason = models.CharField(max_length=64, blank=True)
    is_partial = models.BooleanField(
        default=False, help_text="Still being written, or cut short."
    )
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["session", "round", "sequence"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "round", "sequence"],
                name="one_message_per_place_in_a_session",
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.round}.{self.sequence}"
