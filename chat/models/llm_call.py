"""The ledger: one request to a model, its tokens and its cost."""

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils import timezone

from chat.models.run import Run
from chat.models.session import ChatSession

MILLION = Decimal(1_000_000)


class LLMCall(models.Model):
    """Outlives its session: who, what, how many tokens, at which price; no content."""

    class Operation(models.TextChoices):
        CHAT = "chat"
        TITLE = "title"
        PLANNING = "planning"
        GATE = "gate", "evidence gate"
        ANALYSIS = "analysis", "data analysis"
        WEB_SEARCH = "web_search"
        EMBEDDING = "embedding"

    class Status(models.TextChoices):
        STARTED = "started"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        STOPPED = "stopped"
        LOST = "lost", "worker lost"

    run = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="llm_calls"
    )
    session = models.ForeignKey(
        ChatSession, models.SET_NULL, null=True, blank=True, related_name="llm_calls"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="llm_calls",
    )
    username = models.CharField(max_length=150, blank=True)
    project_id = models.CharField(max_length=36, blank=True)
    project_name = models.CharField(max_length=255, blank=True)
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=255)
    operation = models.CharField(
        max_length=16, choices=Operation, default=Operation.CHAT
    )
    status = models.CharField(max_length=16, choices=Status, default=Status.STARTED)
    attempt = models.PositiveIntegerField(default=1)
    finish_reason = models.CharField(max_length=64, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    reason = models.CharField(
        max_length=300, blank=True, help_text="Why this model was chosen."
    )
    input_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    output_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    total_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    input_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    first_token_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "LLM call"
        indexes = [
            models.Index(fields=["-started_at"], name="idx_llm_call_started"),
            models.Index(fields=["user", "-started_at"], name="idx_llm_call_user"),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.operation})"

    def price(self) -> Decimal | None:
        """Cost at the prices stored on the call; None while anything is unknown."""
        if None in (self.input_price, self.output_price):
            return None
        if self.input_tokens is None or self.output_tokens is None:
            return None
        assert self.input_price is not None
        assert self.output_price is not None
        read = self.input_tokens * self.input_price
        written = self.output_tokens * self.output_price
        return (read + written) / MILLION
