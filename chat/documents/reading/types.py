"""What reading a file yields, and what it may take."""

from collections.abc import Callable
from dataclasses import dataclass, field

# Tells how far it is: pages (or parts) done, and how many there are.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """Against files that are small and unpack to much."""

    pages: int
    unpacked_bytes: int
    text_length: int
    seconds: float


@dataclass(slots=True)
class Reading:
    """Offsets count characters of `text`."""

    text: str
    pages: list[int] = field(default_factory=list)
    # Offset, level from 1, title.
    headings: list[tuple[int, int, str]] = field(default_factory=list)
    # Lines stand for themselves: tables, configurations, logs.
    is_lines: bool = False
    note: str = ""


class Refused(Exception):
    """Says why, for a person."""

    def __init__(self, message: str, code: str = "document_unreadable") -> None:
        super().__init__(message)
        self.code = code


def too_much_text(limit: int) -> Refused:
    return Refused(
        f"The document holds more than {limit} characters of text.",
        "document_too_large",
    )


class Text:
    """Collects a document's text; refuses more than the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self.length = 0

    def add(self, part: str) -> None:
        part = clean(part)
        self.length += len(part)
        if self.length > self._limit:
            raise too_much_text(self._limit)
        self._parts.append(part)

    def __str__(self) -> str:
        return "".join(self._parts)


def clean(text: str) -> str:
    """What every database stores: no NUL, no half signs, one kind of line end."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # Only PDFs and damaged UTF-16 have these.
    return text.encode("utf-8", "replace").decode() if _has_surrogates(text) else text


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
