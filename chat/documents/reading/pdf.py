"""PDF → text by pages; its outline gives the headings."""

import logging
from pathlib import Path
from typing import Any

from chat.documents.reading.types import Limits, Progress, Reading, Refused, Text

# Outlines that point at each other have no end.
_MOST_HEADINGS = 2_000


def read_pdf(path: Path, limits: Limits, progress: Progress) -> Reading:
    """Raises Refused."""
    import pypdf
    from pypdf.errors import PyPdfError

    # It would write a line for each small fault of the file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused("The PDF asks for a password.", "document_encrypted")
        number = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError):
        raise Refused("The PDF is damaged.") from None
    if number > limits.pages:
        raise Refused(
            f"The PDF has {number} pages; {limits.pages} are the most.",
            "document_too_large",
        )
    text, pages, silent = Text(limits.text_length), [], 0
    for index in range(number):
        pages.append(text.length)
        said = _page(reader, index)
        silent += not said.strip()
        text.add(f"{said.strip()}\n\n")
        progress(index + 1, number)
    if silent == number:
        raise Refused("The PDF holds no text: it may be a scan.", "document_no_text")
    note = f"{silent} of {number} pages hold no text." if silent else ""
    return Reading(str(text), pages, _outline(reader, pages), note=note)


def _page(reader: Any, index: int) -> str:
    # Whatever one damaged page does to the library, the others are read.
    try:
        return str(reader.pages[index].extract_text())
    except (RecursionError, Exception):
        return ""


def _outline(reader: Any, pages: list[int]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    try:
        todo: list[tuple[Any, int]] = [(item, 1) for item in reversed(reader.outline)]
        while todo and len(found) < _MOST_HEADINGS:
            item, level = todo.pop()
            if isinstance(item, list):
                todo += [(inner, min(level + 1, 6)) for inner in reversed(item)]
                continue
            page = reader.get_destination_page_number(item)
            title = " ".join(str(item.title).split())[:200]
            if title and page is not None and 0 <= page < len(pages):
                found.append((pages[page], level, title))
    except Exception:  # an outline is a help, not the text
        return []
    return sorted(found, key=lambda heading: heading[0])
