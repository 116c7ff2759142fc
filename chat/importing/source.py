"""The SQLite file of GNS3's Copilot, read and never written."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chat.importing.decoding import decode
from chat.importing.errors import SourceUnreadable, ThreadRefused
from chat.importing.merging import merge
from chat.importing.plain import json_object

_LARGEST = 256 * 1024 * 1024
_BESIDE = ("-wal", "-journal")


@dataclass(frozen=True)
class Checkpoint:
    """The newest state of a thread."""

    messages: list[Any]
    written_at: Any
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Thread:
    """A conversation of the source: its session row, its checkpoint, or both."""

    thread_id: str
    session: dict[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str:
        value = self.session.get(name)
        return value if isinstance(value, str) else ""


@contextmanager
def open_source(path: Path) -> Iterator["Source"]:
    """Raises SourceUnreadable. A file with a journal beside it is read from a copy."""
    if not path.is_file():
        raise SourceUnreadable(f"There is no file {path}.")
    beside = [path.with_name(path.name + end) for end in _BESIDE]
    with tempfile.TemporaryDirectory(prefix="copilot-import-") as folder:
        where = path.resolve()
        if is_copied := any(one.exists() for one in beside):
            where = Path(folder) / "source.db"
            shutil.copyfile(path, where)
            for one, end in zip(beside, _BESIDE, strict=True):
                if one.exists():
                    shutil.copyfile(one, f"{where}{end}")
        mode = "mode=rw" if is_copied else "mode=ro&immutable=1"
        try:
            with closing(
                sqlite3.connect(f"file:{quote(str(where))}?{mode}", uri=True)
            ) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = lambda stored: stored.decode(errors="replace")
                connection.execute("PRAGMA trusted_schema=OFF")
                connection.execute("PRAGMA query_only=ON")
                yield Source(connection)
        except sqlite3.Error as exc:
            raise SourceUnreadable(
                f"{path.name} is no readable SQLite database: {exc}."
            ) from exc


class Source:
    """An open file; threads are read one at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        first = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if first != "ok":
            raise SourceUnreadable(f"The database is damaged: {first}.")
        # A view of the same name could compute anything.
        names = connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        self._columns = {
            str(name): {
                str(column["name"])
                for column in connection.execute(
                    "SELECT name FROM pragma_table_info(?)", [name]
                )
            }
            for (name,) in names.fetchall()
        }
        self._has_sessions = "thread_id" in self._columns.get("chat_sessions", ())
        self._has_checkpoints = "thread_id" in self._columns.get("checkpoints", ())
        if not (self._has_sessions or self._has_checkpoints):
            raise SourceUnreadable(
                "The database has neither chat_sessions nor checkpoints:"
                " it is not one of GNS3's Copilot."
            )

    def thread_ids(self) -> list[str]:
        """Of session rows first, then of checkpoints without one."""
        found: dict[str, None] = {}
        if self._has_sessions:
            rows = self._connection.execute(
                "SELECT thread_id FROM chat_sessions ORDER BY rowid"
            )
            found.update((str(row[0]), None) for row in rows)
        if self._has_checkpoints:
            rows = self._connection.execute(
                "SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id"
            )
            found.update((str(row[0]), None) for row in rows)
        return list(found)

    def thread(self, thread_id: str) -> Thread:
        if not self._has_sessions:
            return Thread(thread_id)
        row = self._one("SELECT * FROM chat_sessions WHERE thread_id=?", [thread_id])
        return Thread(thread_id, dict(row) if row else {})

    def checkpoint(self, thread_id: str) -> Checkpoint | None:
        """The newest of the root namespace. Raises ThreadRefused."""
        columns = self._columns.get("checkpoints", set())
        if not self._has_checkpoints:
            return None
        if not {"checkpoint_id", "checkpoint"} <= columns:
            raise ThreadRefused("Its checkpoints are of a version that is not read.")
        kind = "type" if "type" in columns else "NULL"
        metadata = "metadata" if "metadata" in columns else "NULL"
        root = "AND checkpoint_ns=''" if "checkpoint_ns" in columns else ""
        row = self._one(
            f"SELECT checkpoint_id, {kind} AS type, {metadata} AS metadata,"
            f" length(checkpoint) AS size FROM checkpoints WHERE thread_id=? {root}"
            " ORDER BY checkpoint_id DESC LIMIT 1",
            [thread_id],
        )
        if row is None:
            return None
        if (row["size"] or 0) > _LARGEST:
            raise ThreadRefused("Its newest checkpoint is too large.")
        key = [thread_id, row["checkpoint_id"]]
        stored = self._one(
            "SELECT checkpoint FROM checkpoints"
            f" WHERE thread_id=? AND checkpoint_id=? {root}",
            key,
        )
        state = decode(row["type"], _as_bytes(stored[0] if stored else None))
        if not isinstance(state, dict):
            raise ThreadRefused("Its newest checkpoint is damaged.")
        values = state.get("channel_values")
        found = values.get("messages") if isinstance(values, dict) else None
        return Checkpoint(
            messages=merge(found, self._pending(key, root)),
            written_at=state.get("ts"),
            metadata=json_object(row["metadata"]),
        )

    def _pending(self, key: list[Any], root: str) -> Iterator[Any]:
        """What steps wrote after the checkpoint, before GNS3 or its run ended."""
        wanted = {"thread_id", "checkpoint_id", "channel", "type", "value", "idx"}
        if not wanted <= self._columns.get("writes", set()):
            return
        rows = self._connection.execute(
            "SELECT type, value FROM writes WHERE thread_id=? AND checkpoint_id=?"
            f" {root} AND channel='messages' AND idx>=0 ORDER BY rowid",
            key,
        )
        for kind, value in rows:
            yield decode(kind, _as_bytes(value))

    def _one(self, query: str, values: list[Any]) -> Any:
        try:
            return self._connection.execute(query, values).fetchone()
        except (sqlite3.DatabaseError, OverflowError) as exc:
            raise ThreadRefused("Its rows can't be read.") from exc


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return value if isinstance(value, bytes) else b""
