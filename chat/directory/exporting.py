"""Records as a CSV file that an import reads back and no spreadsheet runs."""

import csv
import io
from collections.abc import Iterable

from chat.directory.models import Record, RecordKind
from chat.directory.reading import is_formula


def as_csv(kind: RecordKind, records: Iterable[Record]) -> str:
    """One column a field, headed by its name."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([field.name for field in kind.columns])
    for record in records:
        writer.writerow([_safe(text) for text in _cells(kind, record)])
    return out.getvalue()


def _cells(kind: RecordKind, record: Record) -> list[str]:
    cells = []
    for field in kind.columns:
        value = record.data.get(field.name, "")
        if field.is_key:
            value = record.key
        elif field.is_name:
            value = record.name
        elif isinstance(value, list):
            value = ";".join(value)
        cells.append(str(value))
    return cells


def _safe(cell: str) -> str:
    # Numbers below zero are no formulas, and a program may want to read them.
    is_number = cell[:1] == "-" and cell[1:].replace(".", "", 1).isdigit()
    return f"'{cell}" if is_formula(cell) and not is_number else cell
