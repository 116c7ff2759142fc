"""What a person asked to be kept: remember, recall, forget."""

import hashlib
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from chat.agent.tools.kit import Passage
from chat.memory.models import Memory, MemoryQuerySet
from copilot_site.lib.errors import Conflict, UserFacingError
from copilot_site.lib.orm import in_orm_thread
from copilot_site.lib.secret_values import mask
from copilot_site.lib.words import Searchable, fold, scores, telling_words, words
from projects.consoles.redaction import redact
from projects.models import Project

LONGEST = 2_000
MOST = 200
# Of what is wanted, a note must have so much to be found, or to be erased.
_FOUND, _MEANT = 0.3, 0.75
# A note of half a year ago counts half as new.
_HALF_LIFE_DAYS = 180
_NEWNESS = 0.15


class NoteTooLong(UserFacingError):
    code = "note_too_long"
    status = 422


class NothingToKeep(UserFacingError):
    code = "nothing_to_keep"
    status = 422


class MemoryFull(Conflict):
    code = "memory_full"


class Notes:
    """The port `Memory` of one person; in a project with the notes for it alone."""

    def __init__(self, user: User, project: Project | None) -> None:
        self._user, self._project = user, project

    async def remember(self, text: str, *, only_here: bool = False) -> str:
        project = self._project if only_here else None
        note = await in_orm_thread(remember)(self._user, text, project)
        return note.text

    async def recall(self, query: str, *, limit: int = 8) -> list[Passage]:
        found = await in_orm_thread(self._recall)(query, limit)
        return [passage_of(note) for note in found]

    async def forget(self, query: str) -> int:
        return await in_orm_thread(self._forget)(query)

    @property
    def _mine(self) -> MemoryQuerySet:
        return Memory.objects.owned_by(self._user).known_in(self._project)

    def _recall(self, query: str, limit: int) -> list[Memory]:
        notes = list(self._mine.select_related("project"))
        return matching(notes, query)[:limit]

    def _forget(self, query: str) -> int:
        notes = list(self._mine)
        shares = scores(telling_words(query), [_searchable(note) for note in notes])
        meant = [
            note.pk
            for note, share in zip(notes, shares, strict=True)
            if share >= _MEANT or fold(note.text) == fold(query)
        ]
        return self._mine.filter(pk__in=meant).delete()[0]


def remember(user: User, text: str, project: Project | None = None) -> Memory:
    """Keep a note, without secrets; one that says the same is renewed instead.

    Raises NothingToKeep, NoteTooLong, MemoryFull.
    """
    text = _clean(text)
    if not text:
        raise NothingToKeep("There is nothing to remember.")
    if len(text) > LONGEST:
        raise NoteTooLong(f"A note has at most {LONGEST} characters.")
    with transaction.atomic():
        # Two runs of one person at once: the second waits, and sees the first's note.
        User.objects.select_for_update().get(pk=user.pk)
        same = Memory.objects.filter(
            user=user, project=project, digest=_digest(text)
        ).first()
        if same is not None:
            return _renewed(same, text)
        if Memory.objects.filter(user=user).count() >= MOST:
            raise MemoryFull(
                f"Memory is full: {MOST} notes. Erase some in the settings first."
            )
        return Memory.objects.create(
            user=user, project=project, text=text, digest=_digest(text)
        )


def matching(notes: Sequence[Memory], query: str) -> list[Memory]:
    """The best first, newer before older; all by age when nothing is asked."""
    wanted = telling_words(query)
    if not wanted:
        return sorted(notes, key=lambda note: note.said_at, reverse=True)
    now = timezone.now()
    shares = scores(wanted, [_searchable(note) for note in notes])
    ranked = [
        (share + _NEWNESS * _newness(note.said_at, now), note)
        for share, note in zip(shares, notes, strict=True)
        if share >= _FOUND
    ]
    ranked.sort(key=lambda item: item[0], reverse=True)
    return [note for _, note in ranked]


def passage_of(note: Memory) -> Passage:
    return Passage(
        id=f"memory:{note.pk}",
        kind="memory",
        title="What you asked to be remembered",
        text=note.text,
        location=note.project.name if note.project else "",
        url=reverse("memory-page"),
        time=note.said_at.isoformat(),
    )


def _renewed(note: Memory, text: str) -> Memory:
    note.text, note.said_at = text, timezone.now()
    note.save(update_fields=["text", "said_at"])
    return note


def _searchable(note: Memory) -> Searchable:
    return Searchable(set(words(note.text)))


def _newness(moment: datetime, now: datetime) -> float:
    days = max((now - moment).total_seconds() / 86_400, 0.0)
    return math.exp2(-days / _HALF_LIFE_DAYS)


def _clean(text: str) -> str:
    plain = text.replace("\x00", "").encode("utf-8", "ignore").decode()
    return redact(mask(plain.strip()))


def _digest(text: str) -> str:
    """Of its words: case, accents and signs make no other note."""
    plain = " ".join(words(text)) or fold(text)
    return hashlib.sha256(plain.encode()).hexdigest()


def note_json(note: Memory) -> dict[str, Any]:
    project = note.project
    return {
        "id": str(note.pk),
        "text": note.text,
        "project": {"project_id": project.project_id, "name": project.name}
        if project
        else None,
        "created_at": note.created_at.isoformat(),
        "said_at": note.said_at.isoformat(),
    }
