"""Writing configs: one default an owner, nobody overwrites what they have not seen."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.exceptions import ValidationError

from copilot_site.lib.errors import Conflict
from copilot_site.lib.fields import Unreadable
from copilot_site.lib.outbound import place_of, reach
from llmconfig.clients import normalised
from llmconfig.models import LLMConfig
from llmconfig.owners import Owner


class VersionConflict(Conflict):
    """Somebody else has changed it meanwhile."""

    code = "version_conflict"

    def __init__(self, version: int) -> None:
        super().__init__(
            gettext(
                "This LLM config was changed meanwhile "
                "(it is version %(version)s now). Load it again."
            )
            % {"version": version}
        )


def create_config(owner: Owner, values: dict[str, Any]) -> LLMConfig:
    """Raises NotYours, AddressRefused, ValidationError."""
    owner.check_write()
    groups = _checked(owner, values)
    with transaction.atomic():
        if values.get("is_default"):
            _lock(owner)
            _no_default(owner)
        config = LLMConfig.objects.create(
            user=owner.user,
            group=owner.group,
            made_by_staff=owner.asking.is_staff,
            **values,
        )
        if groups is not None:
            config.allowed_groups.set(groups)
    return config


def change_config(
    owner: Owner,
    config: LLMConfig,
    values: dict[str, Any],
    expected_version: int | None = None,
) -> LLMConfig:
    """Only what is given. Raises VersionConflict, and as `create_config`."""
    owner.check_write()
    groups = _checked(owner, values, config)
    if "base_url" in values:
        _check_key_stays(config, values)
        if normalised(values["base_url"]) != normalised(config.base_url):
            values["made_by_staff"] = owner.asking.is_staff
    if isinstance(config.api_key, Unreadable) and values.get("api_key") is None:
        # What nobody can read is kept as it is.
        values.pop("api_key", None)
    seen = config.version if expected_version is None else expected_version
    with transaction.atomic():
        if values.get("is_default"):
            _lock(owner)
            _no_default(owner, besides=config.pk)
        rows = LLMConfig.objects.filter(pk=config.pk, version=seen)
        changed = rows.update(
            **values, version=F("version") + 1, updated_at=timezone.now()
        )
        config.refresh_from_db()
        if not changed:
            raise VersionConflict(config.version)
        if groups is not None:
            config.allowed_groups.set(groups)
    return config


def make_default(
    owner: Owner, config: LLMConfig, expected_version: int | None = None
) -> LLMConfig:
    """Raises VersionConflict, NotYours."""
    return change_config(owner, config, {"is_default": True}, expected_version)


def delete_config(owner: Owner, config: LLMConfig) -> None:
    """Raises NotYours."""
    owner.check_write()
    config.delete()


def _lock(owner: Owner) -> None:
    """Of two that make a default at once, the second sees the first's."""
    if owner.user is not None:
        list(User.objects.select_for_update().filter(pk=owner.user.pk))
    if owner.group is not None:
        list(Group.objects.select_for_update().filter(pk=owner.group.pk))


def _no_default(owner: Owner, besides: int = 0) -> None:
    others = owner.configs().filter(is_default=True).exclude(pk=besides)
    others.update(is_default=False, version=F("version") + 1)


def _checked(
    owner: Owner, values: dict[str, Any], config: LLMConfig | None = None
) -> Iterable[Group] | None:
    """The groups that may use it, taken out of the values; None: unsaid."""
    if not owner.asking.is_staff:
        _check_unchanged(config or LLMConfig(), values)
    is_moved = config is None or values.get("base_url") != config.base_url
    if "base_url" in values and is_moved:
        reach(is_trusted=owner.asking.is_staff).check(normalised(values["base_url"]))
    groups: Iterable[Group] | None = values.pop("allowed_groups", None)
    return groups


def _check_unchanged(config: LLMConfig, values: dict[str, Any]) -> None:
    """Who may use it, and whether secrets are masked, is for operators to say."""
    allowed = set(config.allowed_groups.all()) if config.pk else set()
    found = {"redacts": config.redacts, "allowed_groups": allowed}
    asked = {**values, "allowed_groups": set(values.get("allowed_groups", allowed))}
    for name, value in found.items():
        if asked.get(name, value) != value:
            raise ValidationError({name: gettext("Only operators set this.")})


def _check_key_stays(config: LLMConfig, values: dict[str, Any]) -> None:
    """A stored key is for its server alone."""
    if not config.api_key and not isinstance(config.api_key, Unreadable):
        return
    if values.get("api_key") is None and not is_same_server(
        config.base_url, values["base_url"]
    ):
        raise ValidationError(
            {"api_key": gettext("Enter the key again: it would go to another server.")}
        )


def is_same_server(one: str, other: str) -> bool:
    """And as well protected on the way there."""
    is_opened = _is_protected(one) and not _is_protected(other)
    return place_of(one) == place_of(other) and not is_opened


def _is_protected(url: str) -> bool:
    return url.strip().lower().startswith("https:")
