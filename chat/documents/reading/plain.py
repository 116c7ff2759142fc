"""Text, Markdown, tables, configurations and logs: read in the caller's process."""

import csv
import io
import re

from chat.documents.reading.decode import decoded
from chat.documents.reading.types import Limits, Reading, Refused, Text, clean

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_DELIMITERS = ",;\t|"
# The line by which spreadsheets say it.
_SEPARATOR = re.compile(r"\ufeff?sep=(.)\r?\n", re.IGNORECASE)
# What devices and programs write into logs to colour them, or to correct a line.
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|.?\x08")


def read_text(data: bytes, limits: Limits) -> Reading:
    return Reading(_bounded(data, limits))


def read_markdown(data: bytes, limits: Limits) -> Reading:
    """As it was written; only its headings are looked for."""
    text = _bounded(data, limits)
    return Reading(text, headings=markdown_headings(text))


def read_lines(data: bytes, limits: Limits) -> Reading:
    """A configuration or a log."""
    text = clean(_ANSI.sub("", decoded(data)))
    return Reading(_checked(text, limits), is_lines=True)


def read_csv(data: bytes, limits: Limits) -> Reading:
    """Each row with the header's words, so that it can be read for itself."""
    source = decoded(data)
    text = Text(limits.text_length)
    told = _SEPARATOR.match(source)
    source = source[told.end() :] if told else source
    delimiter = told[1] if told else _delimiter(source)
    rows = csv.reader(io.StringIO(source, newline=""), delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(rows, [])]
        if len(header) < 2:
            return read_lines(data, limits)
        if header[0] and not any(sign.isalpha() for sign in header[0]):
            # A row like the others: its values would become the names of theirs.
            text.add(f"{_row([], header)}\n")
            header = []
        for row in rows:
            if any(cell.strip() for cell in row):
                text.add(f"{_row(header, row)}\n")
    except csv.Error as error:
        raise Refused(f"The table can't be read: {error}.") from None
    if not text.length:
        text.add(" | ".join(header))
    return Reading(str(text), is_lines=True)


def markdown_headings(text: str) -> list[tuple[int, int, str]]:
    """Of both kinds, none within a fence."""
    found: list[tuple[int, int, str]] = []
    offset, fence, before = 0, "", ""
    for line in text.splitlines(keepends=True):
        stripped = line.rstrip("\n")
        if mark := _FENCE.match(stripped):
            sign = mark[1][:3]
            fence = "" if fence == sign else fence or sign
        elif not fence:
            if heading := _ATX.match(stripped):
                found.append((offset, len(heading[1]), _title(heading[2])))
            elif before.strip() and (under := _UNDERLINE.match(stripped)):
                start = offset - len(before)
                found.append((start, 1 if under[1][0] == "=" else 2, _title(before)))
        offset += len(line)
        before = "" if fence else line
    return [heading for heading in found if heading[2]]


def _title(text: str) -> str:
    return " ".join(text.replace("**", "").replace("`", "").split())[:200]


def _delimiter(source: str) -> str:
    """The sign that parts the first lines most evenly."""
    lines = [line for line in source[:20_000].splitlines() if line.strip()][:20]

    def evenness(sign: str) -> tuple[int, int]:
        counts = [line.count(sign) for line in lines] or [0]
        return (min(counts) > 0 and len(set(counts)) == 1, sum(counts))

    return max(_DELIMITERS, key=evenness)


def _row(header: list[str], row: list[str]) -> str:
    cells = []
    for position, cell in enumerate(row):
        value = " ".join(cell.split())
        name = header[position] if position < len(header) else ""
        if value:
            cells.append(f"{name}: {value}" if name else value)
    return " | ".join(cells)


def _bounded(data: bytes, limits: Limits) -> str:
    return _checked(clean(decoded(data)), limits)


def _checked(text: str, limits: Limits) -> str:
    collected = Text(limits.text_length)
    collected.add(text)
    if not text.strip():
        raise Refused("The document holds no text.")
    return text
