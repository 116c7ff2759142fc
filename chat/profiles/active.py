"""The profile that a run works with: the only way to one for the rest of chat."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from chat.profiles.definition import prompt_of
from chat.profiles.loading import load, shipped_files
from chat.profiles.models import Profile, ProfileVersion, ProfileVersionQuerySet
from chat.profiles.schema import known_tools
from copilot_site.lib.errors import UserFacingError

Agent = Literal["lab", "grounded"]
ApprovalPolicy = Literal["ask", "never_change", "trust"]
Planner = Literal["keyword", "llm"]
_FALLBACK = "en"


class ProfileUnknown(UserFacingError):
    code = "profile_unknown"
    status = 422

    def __init__(self, name: str, known: list[str]) -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"There is no profile “{name}” for you. Profiles: {names}.")


@dataclass(frozen=True, slots=True)
class Texts:
    """What people read of a profile, in one language."""

    title: str
    description: str
    greeting: str
    questions: tuple[str, ...]


@dataclass(frozen=True)
class ActiveProfile:
    """One version of a profile, ready to be worked with."""

    name: str
    version: int
    agent: Agent
    prompt: str
    tools: tuple[str, ...]
    tool_settings: Mapping[str, Mapping[str, Any]]
    approval: ApprovalPolicy
    texts: Mapping[str, Texts] = field(repr=False)
    # None: all that the person may read.
    collections: tuple[str, ...] | None = None
    data_sources: tuple[str, ...] | None = None
    operations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # None: as the site's setting says.
    planner: Planner | None = None
    shows_status: bool = True
    shows_reasoning: bool = True

    @property
    def title(self) -> str:
        return self.texts[_FALLBACK].title

    @property
    def description(self) -> str:
        return self.texts[_FALLBACK].description

    @property
    def greeting(self) -> str:
        return self.texts[_FALLBACK].greeting

    @property
    def questions(self) -> tuple[str, ...]:
        return self.texts[_FALLBACK].questions

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    @property
    def analyses(self) -> bool:
        """Whether its answers are data analyses, with a model of their own."""
        return "analysis" in self.operations and "query_data" in self.tools

    def model_for(self, operation: str) -> dict[str, Any]:
        """Which model an operation wants, as `llmconfig.selection.choose` takes it."""
        wanted = self.operations.get(operation, {})
        return {
            "operation": operation,
            "mode": wanted.get("mode"),
            "needs": frozenset(wanted.get("needs", ())),
        }

    def said_in(self, language: str) -> Texts:
        """In the nearest language there is, else in English."""
        for known in (language, language.split("-")[0]):
            if known in self.texts:
                return self.texts[known]
        return self.texts[_FALLBACK]


def profile_for(
    name: str | None, *, version: int | None = None, user: User | None = None
) -> ActiveProfile:
    """By name (None: the site's default), in its current or a given version.

    With a user, only one that this user may start a round with. Raises
    ProfileUnknown.
    """
    name = name or settings.DEFAULT_PROFILE
    versions = _versions(user).filter(profile__slug=name)
    found = None
    if version is not None:
        # A version is never deleted alone; from an archive it may be unknown here.
        found = versions.filter(number=version).first()
    found = found or versions.current().first()
    if found is None:
        raise ProfileUnknown(name, [one.name for one in profiles_of(user)])
    return as_active(name, found.number, found.definition)


def profile_of_session(
    asked: str | None, last: str | None, *, user: User
) -> ActiveProfile:
    """The one asked for; else the session's last, if it is still to be had."""
    if not asked and last:
        try:
            return profile_for(last, user=user)
        except ProfileUnknown:
            return profile_for(None, user=user)
    return profile_for(asked, user=user)


def profiles_of(user: User | None) -> list[ActiveProfile]:
    """All that the user may start a round with; the site's default first."""
    rows = _versions(user).current().select_related("profile")
    found = [as_active(row.profile.slug, row.number, row.definition) for row in rows]
    return sorted(found, key=lambda one: one.name != settings.DEFAULT_PROFILE)


def as_active(name: str, version: int, definition: dict[str, Any]) -> ActiveProfile:
    """From a checked definition."""
    streaming = definition.get("streaming", {})
    return ActiveProfile(
        name=name,
        version=version,
        agent=definition["agent"],
        prompt=prompt_of(definition),
        tools=tuple(name for name in known_tools() if name in definition["tools"]),
        tool_settings=definition["tools"],
        approval=definition["approval"],
        texts={
            language: _texts(definition, language)
            for language in definition.get("languages", [_FALLBACK])
        },
        collections=_names(definition.get("collections")),
        data_sources=_names(definition.get("data_sources")),
        operations=definition.get("operations", {}),
        planner=definition.get("planner"),
        shows_status=streaming.get("status", True),
        shows_reasoning=streaming.get("reasoning", True),
    )


def _versions(user: User | None) -> ProfileVersionQuerySet:
    if not Profile.objects.exists():
        # Nobody has loaded any: a database made by `migrate` alone. All at once: who
        # asks meanwhile must not find some; who loads at the same time finds all.
        with contextlib.suppress(IntegrityError), transaction.atomic():
            load(shipped_files())
    versions = ProfileVersion.objects.all()
    if user is not None:
        versions = versions.filter(profile__in=Profile.objects.usable_by(user))
    return versions.order_by("profile__slug")


def _texts(definition: dict[str, Any], language: str) -> Texts:
    return Texts(
        title=definition["title"][language],
        description=definition["description"][language],
        greeting=definition.get("greeting", {}).get(language, ""),
        questions=tuple(definition.get("questions", {}).get(language, ())),
    )


def _names(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
