"""Which model a person, a group or the whole site talks to."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.fields import EncryptedTextField, Unreadable
from llmconfig.kinds import CAPABILITIES, Mode, ModelType, Operation


class LLMConfigQuerySet(models.QuerySet["LLMConfig"]):
    def usable_by(self, user: User) -> Self:
        """Of those that the user sees, what is switched on."""
        return self.seen_by(user).filter(is_enabled=True)

    def seen_by(self, user: User) -> Self:
        """The user's own, and of the groups' and the site's what is for the user."""
        groups = Group.objects.filter(user=user.pk)
        limits = LLMConfig.allowed_groups.through.objects.filter(
            llmconfig=OuterRef("pk")
        )
        is_allowed = ~Exists(limits) | Exists(limits.filter(group__in=groups))
        shared = Q(group__in=groups) | Q(user=None, group=None)
        return self.filter(Q(user=user) | (shared & is_allowed))


def check_operations(value: Any) -> None:
    """A list of operations. Raises ValidationError."""
    if not isinstance(value, list) or not set(map(str, value)) <= set(Operation.values):
        raise ValidationError(f"A list of these: {', '.join(Operation.values)}.")


def check_extra(value: Any) -> None:
    """A JSON object. Raises ValidationError."""
    if not isinstance(value, dict):
        raise ValidationError("A JSON object.")


def _capability(help_text: str) -> Any:
    return models.BooleanField(
        null=True, blank=True, help_text=f"{help_text} Unknown is tried."
    )


class LLMConfig(models.Model):
    """Provider, address, model and key, with what a run needs to know of them."""

    class Strategy(models.TextChoices):
        CONSERVATIVE = "conservative", _("Conservative")
        BALANCED = "balanced", _("Balanced")
        AGGRESSIVE = "aggressive", _("Aggressive")

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
    model_type = models.CharField(
        max_length=16, choices=ModelType, default=ModelType.TEXT
    )
    supports_tools = _capability("Whether it can call functions.")
    supports_vision = _capability("Whether it reads pictures.")
    supports_structured_output = _capability("Whether it keeps to a JSON schema.")
    supports_reasoning = _capability("Whether it thinks before it answers.")
    prompts_tools = models.BooleanField(
        default=True,
        verbose_name="tools by prompt",
        help_text="If it cannot call functions, write the tools into its prompt and "
        "read its calls from a marked block of its answer.",
    )
    operations = models.JSONField(
        default=list,
        blank=True,
        validators=[check_operations],
        help_text="What it is taken for; none: everything.",
    )
    mode = models.CharField(max_length=16, choices=Mode, default=Mode.BALANCED)
    allowed_groups = models.ManyToManyField(
        Group,
        blank=True,
        related_name="allowed_llm_configs",
        help_text="Who may use it; none: everyone whose group or site it is.",
    )
    priority = models.PositiveSmallIntegerField(
        default=100, help_text="Among several of one owner, smaller is taken first."
    )
    extra = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_extra],
        help_text="Settings of other programs; kept and given back.",
    )
    made_by_staff = models.BooleanField(
        default=False,
        editable=False,
        help_text="Its address was written by an operator.",
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

    @property
    def is_trusted(self) -> bool:
        """Whether it may use private addresses of the list."""
        # Nobody but operators writes what belongs to a group or to the site.
        return self.user_id is None or self.made_by_staff

    @property
    def is_readable(self) -> bool:
        """Whether the key ring opens its key."""
        return not isinstance(self.api_key, Unreadable)

    @property
    def capabilities(self) -> dict[str, bool | None]:
        return {name: getattr(self, f"supports_{name}") for name in CAPABILITIES}
