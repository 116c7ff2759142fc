"""Which record a reference points to, among those that may be read."""

from collections.abc import Iterator, Sequence

from chat.directory.kinds import Field
from chat.directory.models import Record, RecordKind, RecordQuerySet
from chat.directory.values import shown

_MOST_FACTS = 40


class Related:
    """Loads each kind at most once, and only when something refers to it."""

    def __init__(self, readable: RecordQuerySet) -> None:
        self._readable = readable
        self._kinds: dict[str, dict[str, Record]] = {}

    def get(self, field: Field, key: str) -> Record | None:
        return self._of(field.kind).get(key.casefold())

    def _of(self, slug: str) -> dict[str, Record]:
        if slug not in self._kinds:
            kind = RecordKind.objects.named(slug)
            rows = self._readable.of_kind(kind) if kind else []
            # A project's own record is taken before the site's with the same key.
            ordered = sorted(rows, key=lambda record: record.project_id is not None)
            self._kinds[slug] = {record.key.casefold(): record for record in ordered}
        return self._kinds[slug]

    def shown(self, record: Record, field: Field) -> str:
        """A field's value for people: with the name of what it refers to."""
        text = shown(record.data.get(field.name))
        if field.type != "reference" or not text:
            return text
        other = self.get(field, text)
        if other is None or other.name == text:
            return text
        return f"{other.name} ({text})" if other.kind.has_telling_key else other.name

    def facts(self, records: Sequence[Record]) -> list[str]:
        """Relations of these records, and of those they refer to, as sentences."""
        sentences: dict[str, None] = {}
        seen: set[object] = set()
        level = list(records)
        for _ in range(2):
            following: list[Record] = []
            for record in level:
                if record.pk in seen:
                    continue
                seen.add(record.pk)
                for field, other in self._others(record):
                    sentence = f"{record.label} · {field.label}: {other.label}"
                    sentences.setdefault(sentence)
                    following.append(other)
            level = following
        return list(sentences)[:_MOST_FACTS]

    def _others(self, record: Record) -> Iterator[tuple[Field, Record]]:
        for field in record.kind.columns:
            key = shown(record.data.get(field.name))
            if field.type == "reference" and key and (other := self.get(field, key)):
                yield field, other


def lines_of(
    record: Record, related: Related, *, is_named: bool = False
) -> list[tuple[str, str]]:
    """Label and value of each field that has one, in the kind's order.

    Without key and name where the record `is_named` beside them.
    """
    lines = []
    for field in record.kind.columns:
        if is_named and (field.is_key or field.is_name):
            continue
        if field.is_key:
            text = record.key if record.kind.has_telling_key else ""
        elif field.is_name:
            text = record.name
        else:
            text = related.shown(record, field)
        if text:
            lines.append((field.label, text))
    return lines


def times_of(kind: RecordKind) -> tuple[Sequence[Field], Sequence[Field]]:
    """A kind's weekdays, and its times: the first two are from and to."""
    columns = kind.columns
    days = [field for field in columns if field.type == "weekday"]
    times = [field for field in columns if field.type == "time"]
    return days, times
