"""Brings the rows of a file into the directory: first looked at, then all or none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.directory.kinds import Field
from chat.directory.models import Record, RecordKind
from chat.directory.reading import Row
from chat.directory.values import BadValue, Value, checked
from copilot_site.lib.errors import UserFacingError
from projects.models import Project

_NAME_SHOWN = 50


class ImportHasErrors(UserFacingError):
    code = "import_has_errors"
    status = 422


@dataclass
class Checked:
    """One row: what it would become, and what is wrong with it."""

    number: int
    key: str = ""
    name: str = ""
    data: dict[str, Value] = field(default_factory=dict)
    # Only of columns that the file has; the others stay as they are.
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    record: Record | None = None

    @property
    def state(self) -> str:
        if self.errors:
            return "error"
        if self.record is None:
            return "new"
        new = (self.key, self.name, _without_blanks({**self.record.data, **self.data}))
        old = (self.record.key, self.record.name, self.record.data)
        return "same" if new == old else "changed"


@dataclass(frozen=True)
class Preview:
    """All rows of a file against what the directory holds now."""

    kind: RecordKind
    project: Project | None
    rows: Sequence[Checked]

    def count(self, state: str) -> int:
        return sum(row.state == state for row in self.rows)

    @property
    def problems(self) -> list[str]:
        return [
            f"Row {row.number}: {error}" for row in self.rows for error in row.errors
        ]


def preview(
    rows: Sequence[Row], kind: RecordKind, project: Project | None = None
) -> Preview:
    """Writes nothing."""
    found = {
        record.key.casefold(): record
        for record in Record.objects.filter(kind=kind, project=project)
    }
    columns = _columns(kind)
    results: list[Checked] = []
    seen: dict[str, int] = {}
    for row in rows:
        result = _check(row, kind, columns)
        folded = result.key.casefold()
        if folded:
            result.record = found.get(folded)
            if first := seen.get(folded):
                result.errors.append(f"“{result.key}” stands in row {first} already")
            seen.setdefault(folded, row.number)
        if not result.name and not result.errors:
            _take_name(result, kind)
        results.append(result)
    _look_for_references(results, kind, project)
    return Preview(kind, project, results)


def apply(looked_at: Preview, *, source: str = "") -> None:
    """All rows or none. Raises ImportHasErrors."""
    if problems := looked_at.problems:
        more = f" And {len(problems) - 5} more." if len(problems) > 5 else ""
        raise ImportHasErrors("; ".join(problems[:5]) + f".{more}")
    new = [row for row in looked_at.rows if row.state == "new"]
    changed = [row for row in looked_at.rows if row.state == "changed"]
    with transaction.atomic():
        Record.objects.bulk_create(
            [
                Record(
                    kind=looked_at.kind,
                    project=looked_at.project,
                    key=row.key,
                    name=row.name,
                    data=_without_blanks(row.data),
                    source=source[:255],
                )
                for row in new
            ],
            batch_size=500,
        )
        Record.objects.bulk_update(
            [_updated(row, source) for row in changed],
            ["key", "name", "data", "source", "updated_at"],
            batch_size=500,
        )


def _updated(row: Checked, source: str) -> Record:
    record = row.record
    assert record is not None
    record.key, record.name, record.source = row.key, row.name, source[:255]
    record.data = _without_blanks({**record.data, **row.data})
    record.updated_at = timezone.now()
    return record


def _without_blanks(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value != ""}


def _columns(kind: RecordKind) -> dict[str, Field]:
    """By name and by label, as files head their columns."""
    by_label = {_plain(one.label): one for one in kind.columns}
    return by_label | {_plain(one.name): one for one in kind.columns}


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def _check(row: Row, kind: RecordKind, columns: dict[str, Field]) -> Checked:
    result = Checked(row.number)
    told: set[str] = set()
    for name, raw in row.values.items():
        column = columns.get(_plain(name))
        if column is None:
            what = f"there is no field “{_shown(name)}”" if name else "too many columns"
            result.errors.append(what)
            continue
        if column.name in told:
            result.errors.append(f"{column.name}: stands in two columns")
            continue
        told.add(column.name)
        try:
            value = checked(column, raw)
        except BadValue as error:
            result.errors.append(f"{column.name}: {error}")
            continue
        if column.is_key:
            result.key = str(value)
        elif column.is_name:
            result.name = str(value)
        else:
            result.data[column.name] = value
    if not result.key and not result.errors:
        result.errors.append(f"{kind.key.name}: is missing")
    return result


def _take_name(result: Checked, kind: RecordKind) -> None:
    """A file without the column of names leaves them; a new record needs one."""
    if result.record is not None:
        result.name = result.record.name
    else:
        result.errors.append(f"{kind.name.name}: is missing")


def _look_for_references(
    results: Sequence[Checked], kind: RecordKind, project: Project | None
) -> None:
    """What is not there yet may come with the next file: a warning, no error."""
    own = {result.key.casefold() for result in results}
    for column in kind.columns:
        if column.type != "reference":
            continue
        keys = Record.objects.filter(kind__slug=column.kind)
        keys = keys.filter(project=None) | keys.filter(project=project)
        known = {key.casefold() for key in keys.values_list("key", flat=True)}
        if column.kind == kind.slug:
            known |= own
        for result in results:
            wanted = str(result.data.get(column.name) or "")
            if wanted and wanted.casefold() not in known:
                result.warnings.append(
                    f"{column.name}: “{_shown(wanted)}” is not in {column.kind} yet"
                )


def _shown(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode()
    return plain if len(plain) <= _NAME_SHOWN else plain[:_NAME_SHOWN] + "…"
