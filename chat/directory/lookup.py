"""The directory as tools see it: records that fit, as passages, and their relations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from chat.agent.tools.kit import Evidence, OwnKind, Passage
from chat.directory.matching import Matcher
from chat.directory.models import Record, RecordKind, RecordQuerySet
from chat.directory.related import Related, lines_of
from chat.directory.when import When, find_when, parse_when
from copilot_site.identity import Identity
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.models import Project

_MOST_SHOWN = 50


class UnknownKind(UserFacingError):
    code = "unknown_kind"
    status = 404


@dataclass(frozen=True, slots=True)
class Found:
    """Records in the order of how well they fit, and what is like them if none does.

    `scores` stand beside the records: how much of what is asked each has.
    """

    records: Sequence[Record]
    related: Related
    scores: Sequence[float] = ()
    nearest: Sequence[str] = ()


def _own_kinds() -> list[OwnKind]:
    """Reads the database."""
    return [
        OwnKind(kind.slug, (kind.label, kind.singular, *kind.words.split()))
        for kind in RecordKind.objects.filter(is_shipped=False)
    ]


class Records:
    """The port `Directory`: what a person may read in a run's project, if it has one.

    Asked anew at each look-up: somebody may have left the project meanwhile.
    """

    def __init__(self, user: User, project: Project | None) -> None:
        self._user, self._project = user, project

    @property
    def readable(self) -> RecordQuerySet:
        """Reads the database."""
        project = self._project
        if project is None:
            return of_person(self._user)
        # Where GNS3 decides, the run itself was let in by its word.
        if project.server.asks_gns3 or project.role_of(self._user) is not None:
            return Record.objects.of_site_and(project)
        return Record.objects.filter(project=None)

    async def own_kinds(self) -> list[OwnKind]:
        return await in_orm_thread(_own_kinds)()

    async def lookup(
        self,
        kind: str,
        *,
        text: str = "",
        fields: dict[str, str] | None = None,
        weekday: str = "",
        time: str = "",
        limit: int = 20,
    ) -> Evidence:
        """Raises UserFacingError for an unknown kind or field, an unclear time."""
        return await in_orm_thread(self._lookup)(
            kind, text, fields or {}, weekday, time, limit
        )

    def _lookup(
        self,
        slug: str,
        text: str,
        fields: dict[str, str],
        weekday: str,
        time: str,
        limit: int,
    ) -> Evidence:
        kind = kind_named(slug)
        found = find(
            self.readable, kind, text=text, fields=fields, weekday=weekday, time=time
        )
        shown = found.records[: min(max(limit, 1), _MOST_SHOWN)]
        value: dict[str, Any] = {
            "kind": kind.slug,
            "found": len(found.records),
            "shown": len(shown),
            "records": [
                {
                    "cite": f"record:{record.pk}",
                    "title": record.label,
                    **dict(lines_of(record, found.related)),
                }
                for record in shown
            ],
        }
        if found.nearest:
            value["nearest"] = found.nearest
        return Evidence(
            value,
            [
                passage_of(record, found.related, score)
                for record, score in zip(shown, found.scores, strict=False)
            ],
            found.related.facts(shown),
        )


def of_person(user: User | AnonymousUser) -> RecordQuerySet:
    """By our own roles."""
    return Record.objects.readable_by(user)


def records_for(identity: Identity) -> RecordQuerySet:
    """The site's alone for a GNS3 login: its roles hang on single projects."""
    if identity.gns3 is not None:
        return Record.objects.filter(project=None)
    return of_person(identity.user)


def kind_named(slug: str) -> RecordKind:
    """Raises UnknownKind, which says what there is."""
    kind = RecordKind.objects.named(slug.strip().lower())
    if kind is None:
        known = RecordKind.objects.values_list("slug", flat=True)
        raise UnknownKind(f"There are no “{slug[:50]}”, but: {', '.join(known)}.")
    return kind


def find(
    readable: RecordQuerySet,
    kind: RecordKind,
    *,
    text: str = "",
    fields: dict[str, str] | None = None,
    weekday: str = "",
    time: str = "",
) -> Found:
    """All of a kind where nothing is asked for."""
    now = timezone.localtime()
    related = Related(readable)
    matcher = Matcher(kind, related)
    every = readable.of_kind(kind)
    found = matcher.by_fields(every, fields or {})
    when = When()
    if asked := f"{weekday} {time}".strip():
        when = parse_when(asked, now)
    elif text and matcher.has_times:
        when = find_when(text, now)
        text = when.rest
    if when.days or when.span:
        found = matcher.by_when(found, when)
    if not matcher.wanted(text):
        return Found(found, related, [1.0] * len(found))
    best = matcher.by_words(found, text)
    nearest = () if best else matcher.nearest(every, text)
    records, shares = zip(*best, strict=True) if best else ((), ())
    return Found(records, related, shares, nearest)


def passage_of(record: Record, related: Related, score: float = 1.0) -> Passage:
    lines = lines_of(record, related)
    return Passage(
        id=f"record:{record.pk}",
        kind="record",
        title=record.title,
        text="\n".join(f"{label}: {text}" for label, text in lines),
        location=record.kind.label,
        url=reverse("directory-record", kwargs={"record_id": record.pk}),
        time=record.updated_at.isoformat(),
        score=round(score, 4),
        coverage=round(score, 4),
    )


def kinds_with_counts(readable: RecordQuerySet) -> list[tuple[RecordKind, int]]:
    rows = readable.order_by().values_list("kind").annotate(Count("pk"))
    counts: dict[int, int] = dict(rows)
    return [(kind, counts.get(kind.pk, 0)) for kind in RecordKind.objects.all()]
