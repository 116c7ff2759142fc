"""One round of a session, and who executes it."""

import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Self

from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from chat.models.session import ChatSession
from chat.models.worker import Worker
from copilot_site.lib.fields import EncryptedTextField
from llmconfig.models import LLMConfig


class Status(models.TextChoices):
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


ACTIVE = (
    Status.QUEUED,
    Status.RUNNING,
    Status.WAITING_APPROVAL,
    Status.STOPPING,
)
EXECUTING = (Status.RUNNING, Status.STOPPING)
FINISHED = (Status.SUCCEEDED, Status.FAILED, Status.STOPPED)


class RunQuerySet(models.QuerySet["Run"]):
    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(session__user=user.pk) if user.pk else self.none()

    def active(self) -> Self:
        return self.filter(status__in=ACTIVE)

    def orphaned(self, lease: float) -> Self:
        """Executing, but their worker is dead or its row is gone."""
        return self.filter(status__in=EXECUTING).filter(
            Q(worker=None) | Q(worker__in=Worker.objects.dead(lease))
        )

    def stale(self, seconds: float) -> Self:
        """Queued, but the message to the workers was lost."""
        return self.filter(
            status=Status.QUEUED, published_at__lt=Now() - timedelta(seconds=seconds)
        )


class Run(models.Model):
    """A user message and all that follows until the answer."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(ChatSession, models.CASCADE, related_name="runs")
    round = models.PositiveIntegerField()
    status = models.CharField(max_length=16, choices=Status, default=Status.QUEUED)
    reason = models.CharField(max_length=64, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)

    worker = models.ForeignKey(
        Worker, models.SET_NULL, null=True, blank=True, related_name="runs"
    )
    attempt = models.PositiveIntegerField(default=0)
    takeovers = models.PositiveIntegerField(
        default=0, help_text="How many workers have died of it, or with it."
    )
    saved_seq = models.PositiveBigIntegerField(
        default=0, help_text="Number of the last event that the rows contain."
    )

    llm_config = models.ForeignKey(
        LLMConfig, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    profile = models.CharField(max_length=100, default="lab")
    agent = models.CharField(
        max_length=16, default="lab", help_text="The profile's: lab or grounded."
    )
    options = models.JSONField(
        default=dict, blank=True, help_text="What the request asked for besides."
    )
    # Kept, so that another worker goes on with what the run was started with.
    profile_version = models.PositiveIntegerField(null=True, blank=True)
    temperature = models.FloatField(null=True, blank=True)
    max_tokens = models.PositiveIntegerField(null=True, blank=True)
    request_key = models.CharField(
        max_length=64, null=True, blank=True, unique=True, editable=False
    )
    secrets = EncryptedTextField(editable=False)

    message_count = models.PositiveIntegerField(default=0)
    llm_calls_count = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    output_tokens = models.PositiveBigIntegerField(null=True, blank=True)

    created_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["session", "round"]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status__in=[str(status) for status in ACTIVE]),
                name="one_unfinished_run_per_session",
            ),
            models.UniqueConstraint(
                fields=["session", "round"], name="one_run_per_session_and_round"
            ),
        ]
        indexes = [models.Index(fields=["status", "worker"], name="idx_run_lease")]

    def __str__(self) -> str:
        return f"round {self.round} of {self.session_id}"

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    # --- Moves: one UPDATE decides each race -----------------------------------

    def claim(self, worker: Worker) -> bool:
        """Mark as running here. False if stopped, or another worker has it."""
        return self._move(
            [Status.QUEUED],
            Status.RUNNING,
            worker=worker,
            attempt=F("attempt") + 1,
            started_at=timezone.now(),
        )

    def take_over(self, worker: Worker, lease: float) -> bool:
        """Continue here what a dead worker left. False if somebody else did."""
        row = Run.objects.orphaned(lease).filter(pk=self.pk, attempt=self.attempt)
        taken = row.update(
            worker=worker, attempt=F("attempt") + 1, takeovers=F("takeovers") + 1
        )
        if not taken:
            return False
        self.refresh_from_db(fields=["worker", "attempt", "takeovers", "status"])
        return True

    def promote(self) -> bool:
        """From the waiting line to the queue."""
        return self._move([Status.PENDING], Status.QUEUED, published_at=Now())

    def wait_for_approval(self, *, saved_seq: int) -> bool:
        """Let go of until a person has decided. False if stopped or another's."""
        return self._move(
            [Status.RUNNING],
            Status.WAITING_APPROVAL,
            only={"attempt": self.attempt},
            worker=None,
            takeovers=0,
            saved_seq=saved_seq,
        )

    def go_on(self) -> bool:
        """All is decided: back to the queue."""
        return self._move([Status.WAITING_APPROVAL], Status.QUEUED, published_at=Now())

    def request_stop(self, reason: str) -> bool:
        """Ask the worker to stop. False if there is none to ask."""
        return self._move(
            [Status.RUNNING, Status.STOPPING],
            Status.STOPPING,
            stop_requested_at=timezone.now(),
            reason=reason,
        )

    def finish(
        self, old: Iterable[Status], new: Status, *, attempt: int, **fields: Any
    ) -> bool:
        """End the run, unless it has ended or a newer attempt owns it."""
        return self._move(
            old,
            new,
            only={"attempt": attempt},
            finished_at=timezone.now(),
            worker=None,
            secrets="",
            **fields,
        )

    def _move(
        self,
        old: Iterable[Status],
        new: Status,
        *,
        only: dict[str, Any] | None = None,
        **fields: Any,
    ) -> bool:
        rows = Run.objects.filter(pk=self.pk, status__in=list(old), **(only or {}))
        if rows.update(status=new, **fields) != 1:
            return False
        # Only what changed: relations that were fetched with the run stay.
        self.refresh_from_db(fields=["status", *fields])
        return True
