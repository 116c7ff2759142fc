"""A person's decision on a tool call that changes something."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.run import Run
from chat.models.tool_call import ToolCall
from llmconfig.deltas import storable


class Approval(models.Model):
    """Asked for before the call runs; bound to the state that it was shown with."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        APPROVED = "approved", _("Approved")
        REJECTED = "rejected", _("Rejected")
        # The state changed, or nobody decided in time.
        EXPIRED = "expired", _("Expired")
        # The run ended before anybody decided.
        CANCELLED = "cancelled", _("Cancelled")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="approvals")
    tool_call = models.ForeignKey(ToolCall, models.CASCADE, related_name="approvals")
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    proposal = models.JSONField(
        default=dict,
        blank=True,
        help_text="What the person was shown: lines by device, and their origin.",
    )
    state = models.JSONField(
        default=dict,
        blank=True,
        help_text="Hash of each part's configuration before; empty: not readable.",
    )
    asked_arguments = models.TextField(
        blank=True, help_text="JSON text, as the model wrote it."
    )
    arguments = models.TextField(
        blank=True, help_text="JSON text, where a person edited the lines."
    )
    reason = models.TextField(blank=True)
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
        ordering = ["requested_at", "tool_call__position"]
        constraints = [
            models.UniqueConstraint(
                fields=["tool_call"],
                condition=Q(status__in=["waiting", "approved", "rejected"]),
                name="one_valid_approval_per_call",
            )
        ]
        indexes = [models.Index(fields=["run", "status"], name="idx_approval_run")]

    def __str__(self) -> str:
        return f"{self.status} approval of {self.tool_call}"

    @property
    def expires_at(self) -> datetime:
        return self.requested_at + timedelta(hours=settings.APPROVAL_HOURS)

    def asked(self) -> dict[str, Any]:
        """The model's arguments, as a tool reads them."""
        return _read(self.asked_arguments)

    def as_json(self) -> dict[str, Any]:
        """As events and the API show it, with the arguments that would run."""
        decided = self.decided_at
        return {
            "id": str(self.pk),
            "run_id": str(self.run_id),
            "tool_call_id": self.tool_call.call_id,
            "tool_name": self.tool_call.name,
            "message_id": str(self.tool_call.message_id),
            "status": self.status,
            "arguments": _read(self.arguments or self.asked_arguments),
            "asked_arguments": self.asked() if self.arguments else None,
            **self.proposal,
            "reason": self.reason,
            "requested_at": self.requested_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
            "decided_at": decided.isoformat() if decided else None,
            "decided_by": self.decided_by.get_username() if self.decided_by else None,
        }


def _read(arguments: str) -> dict[str, Any]:
    # Escapes can spell what can be neither sent nor stored.
    found: dict[str, Any] = storable(json.loads(arguments or "{}"))
    return found
