"""What an operator does to a profile: each change is a new version."""

import difflib
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from chat.profiles.definition import as_text, prompt_of
from chat.profiles.models import Profile, ProfileVersion
from chat.profiles.placeholders import fill

_SAMPLE = {
    "user": "Ada",
    "project": "Campus lab",
    "topology": '{"nodes":[{"name":"PC1","type":"vpcs","status":"started"}]}',
    "schema": "shop:\norders(id integer, placed_at date, total numeric)",
    "language": "the language of the person's message",
}


class Line(NamedTuple):
    kind: Literal["same", "old", "new", "place"]
    text: str


def edit(
    profile: Profile, definition: dict[str, Any], *, author: User, note: str = ""
) -> ProfileVersion | None:
    """The new version, in use from now on; None where nothing was changed."""
    with transaction.atomic():
        profile = Profile.objects.select_for_update().get(pk=profile.pk)
        if profile.current_number and profile.current.definition == definition:
            return None
        version = profile.add_version(
            source=ProfileVersion.Source.OPERATOR,
            definition=definition,
            author=author,
            note=note,
        )
        profile.use(version)
    return version


def roll_back(version: ProfileVersion, *, author: User) -> ProfileVersion | None:
    """To what an earlier version says, as a new one: history is not rewritten."""
    note = f"Back to version {version.number}"
    return edit(version.profile, version.definition, author=author, note=note)


def difference(old: ProfileVersion, new: ProfileVersion) -> list[Line]:
    """Changed lines with three around each; empty where nothing differs."""
    lines = difflib.unified_diff(
        as_text(old.definition).splitlines(),
        as_text(new.definition).splitlines(),
        lineterm="",
    )
    kinds: dict[str, Literal["same", "old", "new", "place"]] = {
        "-": "old",
        "+": "new",
        "@": "place",
    }
    # The first two name the files.
    return [Line(kinds.get(line[0], "same"), line) for line in list(lines)[2:]]


def filled(definition: dict[str, Any]) -> str:
    """The prompt as a model would read it, with examples for what only a run knows."""
    now = timezone.localtime()
    values = {
        **_SAMPLE,
        "date": now.strftime("%A, %d %B %Y"),
        "time": now.strftime("%H:%M %Z"),
    }
    return fill(prompt_of(definition), values)
