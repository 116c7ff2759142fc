"""Word documents (.docx) → text, headings by their styles."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chat.documents.reading.types import Limits, Progress, Reading, Refused, Text

_MOST_ENTRIES = 5_000
_DEEPEST_TABLE = 5
_HEADING = re.compile(r"(?:heading|title)\s*(\d?)", re.IGNORECASE)


def read_docx(path: Path, limits: Limits, progress: Progress) -> Reading:
    """Raises Refused."""
    _check_size(path, limits)
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    try:
        document = docx.Document(str(path))
        blocks = list(document.iter_inner_content())
    except (OpcError, LxmlError, zipfile.BadZipFile, KeyError, ValueError):
        raise Refused("The Word document is damaged.") from None
    text = Text(limits.text_length)
    headings: list[tuple[int, int, str]] = []
    for index, block in enumerate(blocks):
        if hasattr(block, "rows"):
            for line in _table(block, 0):
                text.add(f"{line}\n")
            text.add("\n")
        elif said := block.text.strip():
            if level := _level(block):
                headings.append((text.length, level, " ".join(said.split())[:200]))
            text.add(f"{said}\n\n")
        if index % 50 == 0:
            progress(index, len(blocks))
    if not text.length:
        raise Refused("The Word document holds no text.", "document_no_text")
    return Reading(str(text), headings=headings)


def _check_size(path: Path, limits: Limits) -> None:
    """Before anything is unpacked; then no more is unpacked than was announced."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise Refused("The Word document is damaged.") from None
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MOST_ENTRIES or unpacked > limits.unpacked_bytes:
        raise Refused(
            "The Word document unpacks to more than is read.", "document_too_large"
        )


def _level(paragraph: Any) -> int:
    """Of a heading, from 1; 0 for other paragraphs."""
    try:
        found = _HEADING.match(paragraph.style.name or "")
    except (AttributeError, KeyError):
        return 0
    return min(int(found[1] or 1), 6) if found else 0


def _table(table: Any, depth: int) -> Iterator[str]:
    if depth >= _DEEPEST_TABLE:
        return
    for row in table.rows:
        cells: list[str] = []
        previous: Any = None
        for cell in row.cells:
            # A cell over several columns comes once for each.
            if cell._tc is not previous:
                cells.append(" ".join(cell.text.split()))
            previous = cell._tc
        if any(cells):
            yield " | ".join(cells)
        for cell in row.cells:
            for inner in cell.tables:
                yield from _table(inner, depth + 1)
