"""An archive's lines, one session after another."""

import uuid
from collections.abc import Iterator
from typing import Any

from chat.archive import columns
from chat.archive.columns import Part
from chat.archive.container import Reader
from chat.archive.errors import ArchiveDamaged

Line = dict[str, Any]


def _is_uuid(text: Any) -> bool:
    try:
        return bool(str(uuid.UUID(text)) == text)
    except (ValueError, TypeError, AttributeError):
        return False


class _Lines:
    """A part's lines, of which the next can be looked at."""

    def __init__(self, archive: Reader, part: Part) -> None:
        self._lines = archive.lines(part.name)
        self._next: Line | None = next(self._lines, None)

    def of(self, session: str | None) -> Iterator[Line]:
        """Those that come now and are of the session."""
        while self._next is not None and self._next.get("session") == session:
            line = self._next
            self._next = next(self._lines, None)
            yield line

    @property
    def are_read(self) -> bool:
        return self._next is None


class Walk:
    """All parts at once, in the order of the sessions; memory for one line each."""

    def __init__(self, archive: Reader) -> None:
        missing = {part.name for part in columns.PARTS} ^ archive.parts.keys()
        if missing:
            raise ArchiveDamaged("The archive has other parts than a project has.")
        self._archive = archive
        self._parts = {
            part.name: _Lines(archive, part)
            for part in columns.PARTS
            if part is not columns.SESSIONS
        }

    def sessions(self) -> Iterator[Line]:
        """What the caller leaves unread of a session is skipped."""
        for line in self._archive.lines(columns.SESSIONS.name):
            if not _is_uuid(line.get("thread_id")):
                raise ArchiveDamaged("A session of the archive has no id.")
            yield line
            for lines in self._parts.values():
                for _ in lines.of(line["thread_id"]):
                    pass

    def lines(self, part: Part, session: str | None) -> Iterator[Line]:
        return self._parts[part.name].of(session)

    def finish(self) -> None:
        """Nothing may be left: it would belong to no session of the archive."""
        if not all(lines.are_read for lines in self._parts.values()):
            raise ArchiveDamaged("The archive holds lines of no session of its own.")


def check(archive: Reader) -> set[str]:
    """Every line, before anything is written; returns the users it names."""
    walk = Walk(archive)
    users: set[str] = set()
    seen: set[str] = set()
    for line in walk.sessions():
        columns.SESSIONS.parse(line)
        if line["user"] is None or line["thread_id"] in seen:
            raise ArchiveDamaged("A session of the archive is nobody's, or double.")
        seen.add(line["thread_id"])
        users.add(line["user"])
        for part in columns.PARTS[1:]:
            for row in walk.lines(part, line["thread_id"]):
                part.parse(row)
    for row in walk.lines(columns.LLM_CALLS, None):
        columns.LLM_CALLS.parse(row)
    walk.finish()
    return users
