"""Reads a CSV or JSON file of records, whatever wrote it, into plain rows."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from copilot_site.lib.errors import UserFacingError

LARGEST = 5 * 1024 * 1024
MOST_ROWS = 10_000
MOST_COLUMNS = 100
_LONGEST_CELL = 20_000
_DELIMITERS = ",;\t|"
# The line by which spreadsheets tell which sign parts the cells.
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_QUOTED = re.compile('"[^"]*"')
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Before these our export puts an apostrophe, lest a spreadsheet run the cell.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class FileUnreadable(UserFacingError):
    code = "file_unreadable"
    status = 422


class FileTooLarge(UserFacingError):
    code = "file_too_large"
    status = 413


@dataclass(frozen=True, slots=True)
class Row:
    """`number` is the line of a CSV file, or the place in a JSON list from 1."""

    number: int
    values: dict[str, Any]


def read_rows(data: bytes) -> list[Row]:
    """Raises FileUnreadable, FileTooLarge."""
    if len(data) > LARGEST:
        raise FileTooLarge(f"A file may have {LARGEST // 1024**2} MB.")
    text = _decoded(data)
    if not text.strip():
        raise FileUnreadable("The file is empty.")
    is_json = text.lstrip()[:1] in ("[", "{")
    rows: list[Row] = []
    for row in _of_json(text) if is_json else _of_csv(text):
        rows.append(row)
        if len(rows) > MOST_ROWS:
            raise FileTooLarge(f"A file may have {MOST_ROWS} records.")
    if not rows:
        raise FileUnreadable("The file has no records.")
    return rows


def _decoded(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strictly(data, encoding)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        # What spreadsheets on Windows write; it takes nearly any byte.
        text = _strictly(data, "cp1252")
    if "\x00" in text:
        raise FileUnreadable("The file is no text: save it as CSV in UTF-8, or JSON.")
    return text


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise FileUnreadable("The file's encoding is unknown: use UTF-8.") from None


def _of_json(text: str) -> Iterator[Row]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = getattr(error, "lineno", None)
        where = f" in line {place}" if place else ""
        raise FileUnreadable(f"The file is not JSON{where}.") from None
    if isinstance(value, dict):
        value = value.get("records", [value])
    if not isinstance(value, list):
        raise FileUnreadable("JSON should be a list of records.")
    for number, record in enumerate(value, 1):
        if not isinstance(record, dict):
            raise FileUnreadable(f"Record {number} is not an object.")
        if len(record) > MOST_COLUMNS:
            raise FileTooLarge(f"A record may have {MOST_COLUMNS} fields.")
        yield Row(number, record)


def _of_csv(text: str) -> Iterator[Row]:
    told = _SEPARATOR.match(text)
    text = text[told.end() :] if told else text
    delimiter = told[1] if told else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 1 if told else 0
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells)
                continue
            yield Row(reader.line_num + before, _values(header, cells))
    except csv.Error:
        line = reader.line_num + before
        raise FileUnreadable(f"Line {line} is no CSV.") from None


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if len(names) > MOST_COLUMNS:
        raise FileTooLarge(f"A file may have {MOST_COLUMNS} columns.")
    if twice := {name for name in names if names.count(name) > 1}:
        raise FileUnreadable(f"Columns that stand twice: {', '.join(sorted(twice))}.")
    return names


def _values(header: list[str], cells: list[str]) -> dict[str, Any]:
    """Too many cells are told by a column without a name."""
    values: dict[str, Any] = {}
    for at, cell in enumerate(cells):
        if len(cell) > _LONGEST_CELL:
            cell = cell[:_LONGEST_CELL]
        if at < len(header):
            values[header[at]] = _unescaped(cell)
        elif cell.strip():
            values[""] = cell
    return values


def _unescaped(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and is_formula(cell) else cell


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet might run it; apostrophes before it may be ours."""
    return cell.lstrip("'").startswith(FORMULA)


def _delimiter(text: str) -> str:
    """The sign that stands most often in the header, beside what is quoted there."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    plain = _QUOTED.sub("", first)
    return max(_DELIMITERS, key=plain.count)
