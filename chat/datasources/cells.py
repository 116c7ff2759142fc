"""Values of any type → JSON, and no more of them than fit."""

import datetime
import math
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson

Cell = str | int | float | bool | None
# JavaScript's numbers are exact up to here.
_EXACT = 2**53
_DIGITS = 15
CELL_LENGTH = 2_000
_SHORTEST_CELL = 40
# What a row costs beyond its values: its mark and its brackets.
_FRAME = 32
# Orders to terminals, and what makes a page show text in another order than it has.
_ORDERS = (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: "�" for code in _ORDERS if chr(code) not in "\n\t\r"}
# Without a name, a column of SQLite is named by its whole expression.
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may take: rows, characters of the whole, seconds."""

    rows: int
    length: int
    seconds: float

    def cell(self, columns: int) -> int:
        """So that a row never fills more than half of the whole."""
        share = self.length // max(1, columns) // 2
        return max(_SHORTEST_CELL, min(CELL_LENGTH, share))


@dataclass
class Collector:
    """Takes rows until one too many; holds what fits."""

    limits: Limits
    columns: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    is_truncated: bool = False
    has_cut_cells: bool = False
    _length: int = 0

    def __post_init__(self) -> None:
        self.columns = [_name(column) for column in self.columns]

    def add_all(self, rows: Iterable[Sequence[Any]]) -> bool:
        """False once nothing more fits."""
        return all(self._add(row) for row in rows)

    def _add(self, row: Sequence[Any]) -> bool:
        if len(self.rows) >= self.limits.rows:
            self.is_truncated = True
            return False
        most = self.limits.cell(len(self.columns))
        cells = [self._cut(as_cell(value), most) for value in row]
        length = len(orjson.dumps(cells).decode()) + _FRAME
        if self.rows and self._length + length > self.limits.length:
            self.is_truncated = True
            return False
        self._length += length
        self.rows.append(cells)
        return True

    def _cut(self, cell: Cell, most: int) -> Cell:
        if not isinstance(cell, str) or len(cell) <= most:
            return cell
        self.has_cut_cells = True
        return f"{cell[: most - 1]}…"


def as_cell(value: Any) -> Cell:
    """Safe in JSON and in a page; what is binary becomes its size."""
    match value:
        case None | bool():
            return value
        case int():
            return value if -_EXACT <= value <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return _number(value)
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return str(value)
        case uuid.UUID():
            return str(value)
        case str():
            # One decoder's surrogates are another's error.
            text = value.encode("utf-8", "replace").decode()
            return text.translate(_CONTROLS)
        case dict() | list() | tuple():
            return as_cell(orjson.dumps(value, default=str).decode())
        case _:
            return as_cell(str(value))


def _name(column: str) -> str:
    text = str(as_cell(column))
    cut = text[: _LONGEST_NAME - 1]
    return text if len(text) <= _LONGEST_NAME else f"{cut}…"


def _number(value: Decimal) -> Cell:
    """A number where none of its digits is lost, else text."""
    if not value.is_finite() or len(value.as_tuple().digits) > _DIGITS:
        return str(value)
    if value == value.to_integral_value() and abs(value) <= _EXACT:
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else str(value)
