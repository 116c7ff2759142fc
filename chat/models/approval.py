"""A person's decision on a tool call that changes something."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from chat.models.run import Run
from chat.models.tool_call import ToolCall


class Approval(models.Model):
    """Asked for before the call runs; bound to the configuration it was shown with."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        REJECTED = "rejected"
        EXPIRED = "expired"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="approvals")
    tool_call = models.OneToOneField(ToolCall, models.CASCADE, related_name="approval")
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    arguments = models.TextField(
        blank=True, help_text="JSON text, where a person edited the lines."
    )
    reason = models.TextField(blank=True)
    config_hash = models.CharField(max_length=64, blank=True)
    requested_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )

    class Meta:
        indexes = [models.Index(fields=["run", "status"], name="idx_approval_run")]

    def __str__(self) -> str:
        return f"{self.status} approval of {self.tool_call}"
