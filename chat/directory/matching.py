"""Which records fit: by field, by weekday and time, by the words of a question."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rapidfuzz import fuzz, process

from chat.directory.clock import Span
from chat.directory.kinds import Field
from chat.directory.models import Record, RecordKind
from chat.directory.related import Related, lines_of, times_of
from chat.directory.values import shown
from chat.directory.when import When, WhenUnclear, parse_when
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.words import (
    Searchable,
    likeness,
    scores,
    squeezed,
    telling_words,
    words,
)

# A record must have this much of what is wanted, and not much less than the best.
_ENOUGH, _NEAR_BEST = 0.3, 0.6
_SAME_KIND = 0.8
# Of any record such may be said; they do not tell which.
_ANY = frozenset(
    words(
        "teach teaches taught teaching held hold holds offer offers offered available "
        "exist exists located find take takes place happen happens start "
        "starts begin begins end ends open opens free called named work works person "
        "unterrichtet lehrt halt gehalten angeboten findet statt befindet liegt heisst "
        "beginnt endet geoffnet frei verfugbar arbeitet 上课 教 开门 办公"
    )
)
_SAME_NAME = 85
_COMPARISON = re.compile(r"(<=|>=|<|>|=)?\s*(-?\d+(?:[.,]\d+)?)")
_RANGE = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(?:-|–|\.\.|to|bis)\s*(\d+(?:[.,]\d+)?)")
_SOME_DAY = datetime(2001, 1, 1)


class UnknownField(UserFacingError):
    code = "unknown_field"
    status = 422


class NoWeekdayOrTime(UserFacingError):
    code = "no_weekday_or_time"
    status = 422


@dataclass(frozen=True)
class Matcher:
    """Of one kind, with the names of what its records refer to."""

    kind: RecordKind
    related: Related

    # --- Fields -------------------------------------------------------------------

    def by_fields(
        self, records: Iterable[Record], wanted: dict[str, str]
    ) -> list[Record]:
        """Raises UnknownField."""
        tests = [(self._column(name), value) for name, value in wanted.items()]
        return [
            record
            for record in records
            if all(self._fits(record, column, value) for column, value in tests)
        ]

    def _column(self, name: str) -> Field:
        folded = squeezed(name)
        for column in self.kind.columns:
            if folded in (squeezed(column.name), squeezed(column.label)):
                return column
        names = ", ".join(column.name for column in self.kind.columns)
        raise UnknownField(f"{self.kind.label} have no field “{name}”, but: {names}.")

    def _fits(self, record: Record, column: Field, wanted: str) -> bool:
        if not wanted.strip():
            return True
        if column.is_key:
            return squeezed(record.key) == squeezed(wanted)
        if column.is_name:
            return _is_named(record.name, wanted)
        value = record.data.get(column.name)
        if value is None:
            return False
        match column.type:
            case "number":
                return _compares(value, wanted)
            case "weekday" | "time":
                return _is_when(shown(value), wanted)
            case "reference":
                other = self.related.get(column, shown(value))
                return squeezed(shown(value)) == squeezed(wanted) or (
                    other is not None and _is_named(other.name, wanted)
                )
            case "list":
                return any(_is_named(item, wanted) for item in value)
        return _is_named(shown(value), wanted)

    # --- Weekday and time -----------------------------------------------------------

    @property
    def has_times(self) -> bool:
        return any(times_of(self.kind))

    def by_when(self, records: Iterable[Record], when: When) -> list[Record]:
        """In the order of the week. Raises NoWeekdayOrTime."""
        days, times = times_of(self.kind)
        if (when.days and not days) or (when.span and not times):
            what = "weekday" if when.days and not days else "time of day"
            raise NoWeekdayOrTime(f"{self.kind.label} have no {what}.")
        found = []
        for record in records:
            held = [day for field in days for day in _days(record, field)]
            span = _span(record, times)
            if when.days and not when.days & set(held):
                continue
            if when.span and (span is None or not _meets(span, when.span)):
                continue
            place = (min(held, default=7), span.start if span else 0, record.key)
            found.append((place, record))
        return [record for _, record in sorted(found, key=lambda item: item[0])]

    # --- Words --------------------------------------------------------------------

    def wanted(self, text: str) -> list[str]:
        """What a question says of the record, beside its kind and its fields' names."""
        kind = self.kind
        of_kind = words(f"{kind.slug} {kind.label} {kind.singular} {kind.words}")
        of_fields = set(words(" ".join(field.label for field in kind.columns)))
        return [
            word
            for word in telling_words(text)
            if word not in of_fields
            and word not in _ANY
            and not any(likeness(word, own) >= _SAME_KIND for own in of_kind)
        ]

    def by_words(
        self, records: Sequence[Record], text: str
    ) -> list[tuple[Record, float]]:
        """The best first, from 0 to 1; none that has little of what is wanted."""
        wanted = self.wanted(text)
        named = _named_keys(text)
        texts = [self._searchable(record) for record in records]
        found = scores(wanted, texts)
        for at, record in enumerate(records):
            if squeezed(record.key) in named:
                found[at] += 1.0
        best = max(found, default=0.0)
        least = max(_ENOUGH, best * _NEAR_BEST)
        ranked = sorted(zip(found, records, strict=True), key=lambda item: -item[0])
        return [(record, min(score, 1.0)) for score, record in ranked if score >= least]

    def _searchable(self, record: Record) -> Searchable:
        strong = {*words(record.name), *words(record.key), squeezed(record.key)}
        lines = lines_of(record, self.related)
        return Searchable(strong, set(words(" ".join(text for _, text in lines))))

    def nearest(self, records: Sequence[Record], text: str) -> list[str]:
        """Names that look a little like it, for somebody who misspelt one."""
        wanted = " ".join(self.wanted(text))
        names = {record.label: " ".join(words(record.name)) for record in records}
        found = process.extract(
            wanted, names, scorer=fuzz.WRatio, limit=3, score_cutoff=55
        )
        return [label for _, _, label in found]


def _is_named(name: str, wanted: str) -> bool:
    """All that is wanted is in the name, or they differ by a slip."""
    own, asked = words(name), words(wanted)
    if not asked:
        return name.casefold() == wanted.strip().casefold()
    if all(any(likeness(word, one) for one in own) for word in asked):
        return True
    return fuzz.ratio(" ".join(own), " ".join(asked)) >= _SAME_NAME


def _compares(value: Any, wanted: str) -> bool:
    if not isinstance(value, int | float):
        return False
    if match := _RANGE.fullmatch(wanted.strip()):
        low, high = (float(part.replace(",", ".")) for part in match.groups())
        return low <= value <= high
    found = _COMPARISON.fullmatch(wanted.strip())
    if found is None:
        return False
    number = float(found[2].replace(",", "."))
    match found[1]:
        case "<":
            return value < number
        case ">":
            return value > number
        case "<=":
            return value <= number
        case ">=":
            return value >= number
    return value == number


def _is_when(value: str, wanted: str) -> bool:
    try:
        own, asked = parse_when(value, _SOME_DAY), parse_when(wanted, _SOME_DAY)
    except WhenUnclear:
        return False
    if asked.days and not asked.days & own.days:
        return False
    if asked.span is None:
        return True
    return own.span is not None and own.span.overlaps(asked.span)


def _days(record: Record, field: Field) -> frozenset[int]:
    try:
        return parse_when(shown(record.data.get(field.name)), _SOME_DAY).days
    except WhenUnclear:
        return frozenset()


def _span(record: Record, times: Sequence[Field]) -> Span | None:
    """From the first time to the second; a moment where there is but one."""
    found = [
        when.span.start
        for field in times[:2]
        if (when := _moment(record, field)) is not None and when.span is not None
    ]
    if not found:
        return None
    start, end = found[0], found[-1]
    return Span(start, end if len(found) == 1 or end > start else end + 24 * 60)


def _moment(record: Record, field: Field) -> When | None:
    try:
        return parse_when(shown(record.data.get(field.name)), _SOME_DAY)
    except WhenUnclear:
        return None


def _meets(span: Span, wanted: Span) -> bool:
    """What goes on past midnight is also there early in the morning."""
    day = 24 * 60
    shifted = Span(wanted.start + day, wanted.end + day)
    return span.overlaps(wanted) or span.overlaps(shifted)


def _named_keys(text: str) -> set[str]:
    """What may be a key: a word with a digit, or two that make one: NET 201."""
    parts = [squeezed(part) for part in text.split()]
    pairs = [one + two for one, two in zip(parts, parts[1:], strict=False)]
    return {
        part
        for part in (*parts, *pairs)
        if any(map(str.isdigit, part)) and not part.isdigit()
    }
