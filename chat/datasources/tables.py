"""What a source holds, as its engine tells and its operator describes it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    is_key: bool = False
    # `table.column` that it points to.
    refers_to: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view that may be read. `schema` is empty where there are none."""

    name: str
    columns: tuple[Column, ...]
    schema: str = ""
    is_view: bool = False

    @property
    def shown(self) -> str:
        """`public` is where PostgreSQL looks by itself."""
        return self.name if self.schema in ("", "public") else self.full

    @property
    def full(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True)
class Catalogue:
    """The tables that may be read, and the names of all that there are."""

    tables: tuple[Table, ...]
    names: frozenset[str] = frozenset()

    def find(self, name: str, schema: str = "", *, any_case: bool) -> list[Table]:
        def same(one: str, other: str) -> bool:
            return one == other or (any_case and one.lower() == other.lower())

        return [
            table
            for table in self.tables
            if same(table.name, name) and (not schema or same(table.schema, schema))
        ]


@dataclass(frozen=True)
class Allowed:
    """Patterns such as `products`, `sales.*`; none of them: all tables."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> "Allowed":
        return cls(tuple(re.split(r"[\s,]+", text.strip().lower())) if text else ())

    def has(self, schema: str, name: str) -> bool:
        names = [name.lower(), f"{schema}.{name}".lower()]
        return not any(self.patterns) or any(
            fnmatchcase(one, pattern) for one in names for pattern in self.patterns
        )


@dataclass(frozen=True)
class Notes:
    """An operator's words: on the whole, and by `table` or `table.column`."""

    whole: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> "Notes":
        """A JSON object is by part, anything else is one text."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            return cls(text.strip())
        parts = {str(key).lower(): str(value) for key, value in data.items()}
        return cls(parts.pop("", ""), parts)

    def on(self, *names: str) -> str:
        return next(
            (self.parts[n.lower()] for n in names if n.lower() in self.parts), ""
        )


def as_json(tables: Sequence[Table], notes: Notes) -> list[dict[str, Any]]:
    """For tools and the API; what is empty is left out."""
    return [
        _slim(
            table=table.shown,
            is_view=table.is_view,
            notes=notes.on(table.full, table.name),
            columns=[
                _slim(
                    name=column.name,
                    type=column.type,
                    key=column.is_key,
                    refers_to=column.refers_to,
                    notes=notes.on(
                        f"{table.full}.{column.name}", f"{table.name}.{column.name}"
                    ),
                )
                for column in table.columns
            ],
        )
        for table in tables
    ]


def _slim(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}
