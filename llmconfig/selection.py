"""Which model a run talks to: the whole order of preference, and who goes on after it.

What cannot do what is needed comes last; then by owner (one's own, a group's, the
site's), by operation, by mode, the default, by priority.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import gettext

from copilot_site.lib.errors import UserFacingError
from llmconfig.kinds import CAPABILITIES, Mode, Operation, types_for
from llmconfig.models import LLMConfig

_OWN, _GROUPS, _SITES = range(3)
_MODES = list(Mode.values)


class LLMNotConfigured(UserFacingError):
    code = "llm_not_configured"
    status = 400


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A stored config and those that may go on after it, or the offline model."""

    config: LLMConfig | None
    is_offline: bool
    reason: str = ""
    rest: tuple[Self, ...] = ()

    @property
    def model(self) -> str:
        return "offline" if self.config is None else self.config.model

    def after(self, failed: "ModelChoice", code: str) -> "ModelChoice":
        """This choice, as what goes on where another has failed."""
        name = failed.config.name if failed.config else failed.model
        return replace(self, reason=f"{self.reason}, since “{name}” failed ({code})")

    def chain(self) -> "tuple[ModelChoice, ...]":
        """In the order in which they are asked."""
        return (replace(self, rest=()), *self.rest)


def choose_config(*, user: User) -> ModelChoice:
    """What answers this user in a conversation. Raises LLMNotConfigured."""
    return choose(user=user)


def choose(
    *,
    user: User,
    operation: str = Operation.CHAT,
    mode: str | None = None,
    needs: Collection[str] = (),
    first: int | None = None,
) -> ModelChoice:
    """The best config for this, and after it the rest of those that can do it.

    `needs` are capabilities; `first` is the key of a config that was chosen before and
    stays chosen, if the user may still use it. Raises LLMNotConfigured where there is
    none, and the offline model is off or could not do it.
    """
    wanted = _Wanted(operation, mode, frozenset(needs), first)
    rows = _candidates(user, operation)
    ranked = sorted(filter(wanted.is_met_by, rows), key=wanted.rank)
    if ranked:
        choices = [
            ModelChoice(row.config, is_offline=False, reason=wanted.reason(row))
            for row in ranked
        ]
        return replace(choices[0], rest=tuple(choices[1:]))
    if settings.OFFLINE_MODEL and operation != Operation.EMBEDDING:
        reason = "no language model is configured"
        return ModelChoice(None, is_offline=True, reason=reason)
    raise LLMNotConfigured(
        gettext(
            "No language model is configured. "
            "Add one in your settings, or ask an operator."
        )
    )


@dataclass(frozen=True, slots=True)
class _Row:
    config: LLMConfig
    nearness: int


def _candidates(user: User, operation: str) -> Iterator[_Row]:
    """One query, whatever there is."""
    configs = LLMConfig.objects.usable_by(user).filter(
        model_type__in=types_for(operation)
    )
    for config in configs.select_related("group"):
        yield _Row(config, nearness(config))


def nearness(config: LLMConfig) -> int:
    """Of those that a user may use: one's own, a group's, the site's."""
    if config.user_id is not None:
        return _OWN
    return _GROUPS if config.group_id is not None else _SITES


@dataclass(frozen=True, slots=True)
class _Wanted:
    operation: str
    mode: str | None
    needs: frozenset[str]
    first: int | None

    def is_met_by(self, row: _Row) -> bool:
        config = row.config
        if config.operations and self.operation not in config.operations:
            return False
        # Without function calling there is still something to be had: see below.
        hard = self.needs - {"tools"}
        return all(
            getattr(config, f"supports_{name}") is not False
            for name in hard & set(CAPABILITIES)
        )

    def rank(self, row: _Row) -> tuple[int, ...]:
        config = row.config
        return (
            0 if self.first == config.pk else 1,
            1 if "tools" in self.needs and config.supports_tools is False else 0,
            row.nearness,
            0 if self.operation in config.operations else 1,
            self._distance(config),
            0 if config.is_default else 1,
            config.priority,
            config.pk,
        )

    def _distance(self, config: LLMConfig) -> int:
        """How far its mode is from the one asked for; balanced asks for none."""
        if self.mode not in (Mode.FAST, Mode.THOROUGH) or config.mode not in _MODES:
            return 0
        return abs(_MODES.index(self.mode) - _MODES.index(config.mode))

    def reason(self, row: _Row) -> str:
        """For the person who asks: whose it is, and what spoke for it."""
        config = row.config
        owners = {
            _OWN: gettext("your own config “%(name)s”"),
            _GROUPS: gettext("the config of your group “%(group)s” “%(name)s”"),
            _SITES: gettext("the site's config “%(name)s”"),
        }
        words = [owners[row.nearness] % {"name": config.name, "group": config.group}]
        if self.operation in config.operations:
            label = Operation(self.operation).label
            words.append(gettext("made for %(operation)s") % {"operation": label})
        if self.mode == config.mode != Mode.BALANCED:
            words.append(gettext("mode %(mode)s") % {"mode": Mode(config.mode).label})
        if config.is_default:
            words.append(gettext("the default"))
        if "tools" in self.needs and config.supports_tools is False:
            words.append(gettext("which cannot call functions"))
        return ", ".join(words)
