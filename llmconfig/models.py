"""Which model a person, a group or the whole site talks to."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from copilot_site.lib.fields import EncryptedTextField


class LLMConfigQuerySet(models.QuerySet["LLMConfig"]):
    def usable_by(self, user: User) -> Self:
        """The user's own, those of the user's groups, and the site's."""
        groups = Group.objects.filter(user=user.pk)
        return self.filter(
            Q(user=user) | Q(group__in=groups) | Q(user=None, group=None),
            is_enabled=True,
        )


class LLMConfig(models.Model):
    """Provider, address, model and key, with what a run needs to know of them."""

    class Strategy(models.TextChoices):
        CONSERVATIVE = "conservative"
        BALANCED = "balanced"
        AGGRESSIVE = "aggressive"

    name = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="llm_configs",
    )
    group = models.ForeignKey(
        Group, models.CASCADE, null=True, blank=True, related_name="llm_configs"
    )
    provider = models.CharField(max_length=50, default="openai")
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=255)
    api_key = EncryptedTextField()
    temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(2.0)],
    )
    max_tokens = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    context_limit = models.PositiveIntegerField(
        default=128, help_text="In thousands of tokens."
    )
    context_strategy = models.CharField(
        max_length=16, choices=Strategy, default=Strategy.BALANCED
    )
    input_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million tokens read; empty: unknown.",
    )
    output_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million tokens written; empty: unknown.",
    )
    sends_reasoning = models.BooleanField(
        default=False,
        help_text="Send the model's own reasoning back to it; some demand it.",
    )
    redacts = models.BooleanField(
        default=True,
        verbose_name="mask secrets",
        help_text="Mask passwords and keys in device output before it leaves the site.",
    )
    is_default = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    objects = LLMConfigQuerySet.as_manager()

    class Meta:
        verbose_name = "LLM config"
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None) | Q(group=None), name="config_has_one_owner"
            ),
            models.UniqueConstraint(
                fields=["user"],
                condition=Q(is_default=True, user__isnull=False),
                name="one_default_config_per_user",
            ),
            models.UniqueConstraint(
                fields=["group"],
                condition=Q(is_default=True, group__isnull=False),
                name="one_default_config_per_group",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.model})"
