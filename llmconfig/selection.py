"""Which model a run talks to: the whole order of preference."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Case, IntegerField, Value, When

from copilot_site.lib.errors import UserFacingError
from llmconfig.models import LLMConfig


class LLMNotConfigured(UserFacingError):
    code = "llm_not_configured"
    status = 400


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A stored config, or one made from the environment, or the offline model."""

    config: LLMConfig | None
    is_offline: bool

    @property
    def model(self) -> str:
        return "offline" if self.config is None else self.config.model


def choose_config(*, user: User) -> ModelChoice:
    """The user's own, then a group's, then the site's; defaults first in each.

    Raises LLMNotConfigured where there is none and the offline model is off.
    """
    nearness = Case(
        When(user=user.pk, then=Value(0)),
        When(group__isnull=False, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    config = (
        LLMConfig.objects.usable_by(user)
        .order_by(nearness, "-is_default", "pk")
        .first()
    )
    if config is not None:
        return ModelChoice(config, is_offline=False)
    if settings.OFFLINE_MODEL:
        return ModelChoice(None, is_offline=True)
    raise LLMNotConfigured(
        "No language model is configured. Add one under LLM configs in the admin, "
        "or ask an operator."
    )
