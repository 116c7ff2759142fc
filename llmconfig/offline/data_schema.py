"""A described database: tables, columns, and the ways from one table to another."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmconfig.offline.data_words import stem, words

_NUMBERS = ("int", "num", "dec", "real", "float", "double", "serial", "money")
_TEXTS = ("text", "char", "clob", "name", "enum", "any")
_LABELS = ("name", "title", "label", "description", "code")


@dataclass(frozen=True)
class Column:
    table: str
    name: str
    type: str
    is_key: bool
    refers_to: str

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem, words(self.name.replace("_", " "))))

    @property
    def is_number(self) -> bool:
        return any(part in self.type for part in _NUMBERS)

    @property
    def is_text(self) -> bool:
        return any(part in self.type for part in _TEXTS) and not self.is_number

    @property
    def is_measure(self) -> bool:
        """What can be added up: neither a key nor a reference."""
        is_id = self.is_key or bool(self.refers_to) or self.name.lower().endswith("id")
        return self.is_number and not is_id


@dataclass(frozen=True)
class Join:
    """`left.column = right.column`; `is_forward`: each row finds at most one."""

    left: str
    left_column: str
    right: str
    right_column: str
    is_forward: bool


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]

    @property
    def stem(self) -> str:
        """`sales.order_lines` is asked for as `order line`."""
        own = self.name.rpartition(".")[2].replace("_", " ")
        return " ".join(map(stem, words(own)))

    @property
    def label(self) -> Column:
        """What a person calls a row of it."""
        texts = [column for column in self.columns if column.is_text]
        for wanted in _LABELS:
            for column in texts:
                if column.name.lower() == wanted:
                    return column
        return (texts or list(self.columns))[0]

    @property
    def measures(self) -> list[Column]:
        return [column for column in self.columns if column.is_measure]


@dataclass
class Source:
    name: str
    title: str
    tables: dict[str, Table] = field(default_factory=dict)
    error: str = ""

    def columns(self) -> Iterator[Column]:
        for table in self.tables.values():
            yield from table.columns

    def _joins(self, table: str) -> Iterator[Join]:
        for column in self.columns():
            other, _, key = column.refers_to.rpartition(".")
            if other not in self.tables:
                continue
            if column.table == table:
                yield Join(table, column.name, other, key, True)
            elif other == table:
                yield Join(table, key, column.table, column.name, False)

    def path(self, start: str, goals: Sequence[str]) -> list[Join] | None:
        """Joins from one table to all others, forward ones first; None: no way."""
        return self._path(start, goals, forward=True) or self._path(
            start, goals, forward=False
        )

    def is_above(self, table: str, others: Sequence[str]) -> bool:
        """Each of its rows leads to one row of each of the others."""
        return self._path(table, others, forward=True) is not None

    def _path(
        self, start: str, goals: Sequence[str], *, forward: bool
    ) -> list[Join] | None:
        came: dict[str, Join | None] = {start: None}
        queue = deque([start])
        while queue:
            table = queue.popleft()
            joins = sorted(self._joins(table), key=lambda join: not join.is_forward)
            for join in joins:
                if join.right not in came and (join.is_forward or not forward):
                    came[join.right] = join
                    queue.append(join.right)
        if any(goal not in came for goal in goals):
            return None
        found: dict[str, Join] = {}
        for goal in goals:
            steps = []
            step = came[goal]
            while step is not None:
                steps.append(step)
                step = came[step.left]
            for join in reversed(steps):
                found.setdefault(join.right, join)
        return list(found.values())


def read_sources(results: Sequence[Mapping[str, Any]]) -> list[Source]:
    """From what describe_data returned; the newest of each."""
    found: dict[str, Source] = {}
    for result in results:
        for data in result.get("sources") or []:
            source = Source(
                str(data.get("source", "")),
                str(data.get("title", "")),
                error=str(data.get("error", "")),
            )
            for table in data.get("tables") or []:
                name = str(table.get("table", ""))
                columns = tuple(
                    Column(
                        name,
                        str(column.get("name", "")),
                        str(column.get("type", "")).lower(),
                        bool(column.get("key")),
                        str(column.get("refers_to", "")),
                    )
                    for column in table.get("columns") or []
                )
                if columns:
                    source.tables[name] = Table(name, columns)
            found[source.name] = source
    return list(found.values())
