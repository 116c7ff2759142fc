"""What the agent may read: the port `DataSources` over the sources of a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from chat.agent.tools.kit import Evidence
from chat.datasources import guard
from chat.datasources.cells import Collector
from chat.datasources.engines.base import Target
from chat.datasources.errors import DataSourceError, UnknownSource
from chat.datasources.evidence import evidence_of
from chat.datasources.models import DataSource
from chat.datasources.tables import Catalogue, Notes, as_json
from chat.datasources.targets import catalogue_of, engine_of, target_of
from chat.datasources.threads import Cancel, in_parallel, in_query_thread

_INSPECT_SECONDS = 10.0


class Sources:
    """Of one run: its queries are counted, so that their rows can be named."""

    def __init__(
        self,
        sources: Sequence[DataSource],
        *,
        rows: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self._sources = {source.slug: source for source in sources}
        self._rows, self._seconds = rows, seconds
        self._count = 0

    def names(self) -> Sequence[str]:
        return list(self._sources)

    async def describe(self, source: str) -> dict[str, Any]:
        """Tables, columns and notes. Raises DataSourceError."""
        row = self._find(source)
        return await in_query_thread(
            lambda cancel: describe(row), seconds=_INSPECT_SECONDS
        )

    async def schema(self, source: str) -> str:
        """The same as text, or why it is not known; no row of a table is in it."""
        try:
            return as_text(await self.describe(source))
        except DataSourceError as error:
            return str(error)

    async def query(self, source: str, sql: str) -> Evidence:
        """The rows of one SELECT. Raises DataSourceError."""
        row = self._find(source)
        target = target_of(row, rows=self._rows, seconds=self._seconds)
        self._count += 1
        number = self._count
        query, collector = await in_query_thread(
            lambda cancel: _read(target, sql, cancel),
            seconds=target.limits.seconds + _INSPECT_SECONDS,
        )
        return evidence_of(
            collector,
            source=row.slug,
            query=query,
            number=number,
            time=timezone.now().isoformat(timespec="seconds"),
        )

    def _find(self, name: str) -> DataSource:
        if found := self._sources.get(name):
            return found
        raise UnknownSource(
            f"There is no data source “{name[:60]}”. "
            f"Sources: {', '.join(self._sources)}."
        )


def sources_for(
    user: User,
    names: Sequence[str] | None,
    *,
    settings: Mapping[str, Any] | None = None,
) -> Sources | None:
    """In a thread. Those of `names` (None: all) that the user may read; None: none.

    `settings` are a profile's for the tool: `row_limit`, `time_limit`.
    """
    found = usable(user, names)
    wishes = settings or {}
    return (
        Sources(found, rows=wishes.get("row_limit"), seconds=wishes.get("time_limit"))
        if found
        else None
    )


def usable(user: User, names: Sequence[str] | None) -> list[DataSource]:
    found = DataSource.objects.usable_by(user)
    return list(found if names is None else found.filter(slug__in=names))


def overview(user: User) -> list[dict[str, Any]]:
    """In a thread. All that the user may read; of a silent one, why it is silent."""
    return in_parallel(_described_or_why, usable(user, None))


def _described_or_why(source: DataSource) -> dict[str, Any]:
    try:
        return {**describe(source), "error": ""}
    except DataSourceError as error:
        return {**described(source, Catalogue(())), "error": str(error)}


def describe(source: DataSource) -> dict[str, Any]:
    """In a thread. Raises DataSourceError."""
    return described(source, catalogue_of(target_of(source)))


def described(source: DataSource, catalogue: Catalogue) -> dict[str, Any]:
    notes = Notes.of(source.notes)
    return {
        "source": source.slug,
        "title": source.title,
        "description": source.description,
        "engine": source.get_engine_display(),
        "notes": notes.whole,
        "tables": as_json(catalogue.tables, notes),
    }


def as_text(source: dict[str, Any]) -> str:
    """A description in few words, for prompts; whoever shows it has to fence it."""
    lines = [
        f"{source['title']} ({source['engine']}). {_flat(source['description'])}",
        *([source["notes"]] if source["notes"] else []),
    ]
    for table in source["tables"]:
        columns = ", ".join(_column(column) for column in table["columns"])
        note = f"  -- {_flat(table['notes'])}" if table.get("notes") else ""
        lines.append(f"- {_flat(table['table'])}({columns}){note}")
    return "\n".join(lines)


def _column(column: dict[str, Any]) -> str:
    words = [column["name"], column["type"]]
    if column.get("key"):
        words.append("key")
    if column.get("refers_to"):
        words.append(f"→ {column['refers_to']}")
    if column.get("notes"):
        words.append(f"({column['notes']})")
    return _flat(" ".join(words))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _read(target: Target, sql: str, cancel: Cancel) -> tuple[guard.Checked, Collector]:
    catalogue = catalogue_of(target)
    query = guard.check(sql, engine=target.address.engine, catalogue=catalogue)
    return query, engine_of(target).read(target, query, cancel)
