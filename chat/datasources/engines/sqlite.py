"""SQLite: a file opened for reading, where the engine itself watches what is read."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from chat.datasources.address import SQLITE
from chat.datasources.cells import Collector
from chat.datasources.engines.base import Target
from chat.datasources.errors import (
    DataSourceError,
    QueryFailed,
    QueryTooSlow,
    SourceRefused,
    SourceUnavailable,
)
from chat.datasources.grammar import grammar_of
from chat.datasources.guard import Checked
from chat.datasources.ownership import check_content, check_not_own
from chat.datasources.tables import Catalogue, Column, Table
from chat.datasources.threads import Cancel, too_slow

_STEPS = 5_000
_BUSY_SECONDS = 2.0
_INSPECT_SECONDS = 5.0
# One value at a time is in memory; a longer one is an error of the query.
_VALUE_BYTES = 32 * 1024 * 1024
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    # A long pattern on a long text takes for ever, and cannot be interrupted.
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
}
_NEEDS_TO_WRITE = (
    sqlite3.SQLITE_READONLY_DIRECTORY,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_CANTOPEN,
)
# The engine calls these by names of its own.
_INNER_FUNCTIONS = frozenset({"like", "glob", "->", "->>", "likelihood"})


class SQLite:
    """Connections cost next to nothing here, so each query has its own."""

    def catalogue(self, target: Target) -> Catalogue:
        with _opened(target, seconds=_INSPECT_SECONDS) as connection:
            try:
                return _catalogue(connection, target)
            except sqlite3.Error as error:
                raise _unreadable(error) from None

    def read(self, target: Target, query: Checked, cancel: Cancel) -> Collector:
        seconds = target.limits.seconds
        with _opened(target, seconds=seconds, cancel=cancel) as connection:
            connection.set_authorizer(_Watch(query))
            try:
                return _rows(connection, query, target)
            except sqlite3.Error as error:
                if _code(error) == sqlite3.SQLITE_INTERRUPT:
                    raise QueryTooSlow(too_slow(seconds)) from None
                raise QueryFailed(f"The database says: {error}.") from None

    def warnings(self, target: Target) -> list[str]:
        self.catalogue(target)
        return []


def _code(error: sqlite3.Error) -> int:
    """The module's own errors, such as for two statements, have none."""
    return getattr(error, "sqlite_errorcode", 0)


def _unreadable(error: sqlite3.Error) -> DataSourceError:
    # The lower byte is the kind, the rest its details.
    match _code(error) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return SourceUnavailable(
                "Another program is writing to the database file; try again later."
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return SourceRefused("This is no SQLite database, or damaged.")
        case _:
            return SourceUnavailable("The database file cannot be read.")


class _Watch:
    """The engine asks before it reads a column or calls a function."""

    def __init__(self, query: Checked) -> None:
        self._tables = {table.name.lower() for table in query.tables}
        self._views = {t.name.lower() for t in query.tables if t.is_view}
        self._own_names = query.own_names
        self._functions = grammar_of(SQLITE).functions | _INNER_FUNCTIONS

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        database: str | None,
        inside: str | None,
    ) -> int:
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                return sqlite3.SQLITE_OK
            case sqlite3.SQLITE_READ if self._may_read(first, second, inside):
                return sqlite3.SQLITE_OK
            case sqlite3.SQLITE_FUNCTION if (second or "").lower() in self._functions:
                return sqlite3.SQLITE_OK
            case _:
                return sqlite3.SQLITE_DENY

    def _may_read(
        self, table: str | None, column: str | None, inside: str | None
    ) -> bool:
        name = (table or "").lower()
        if name in self._tables or (inside or "").lower() in self._views:
            return True
        # Without a column only rows are counted: of a WITH, or of what a view is from.
        return not column and (name in self._own_names or bool(self._views))


@contextlib.contextmanager
def _opened(
    target: Target, *, seconds: float, cancel: Cancel | None = None
) -> Iterator[sqlite3.Connection]:
    check_not_own(target.address)
    assert target.address.path is not None
    deadline = time.monotonic() + seconds
    try:
        connection = _open(target.address.path)
    except sqlite3.Error as error:
        raise _unreadable(error) from None
    try:
        connection.set_progress_handler(
            lambda: (
                time.monotonic() > deadline or (cancel is not None and cancel.is_set())
            ),
            _STEPS,
        )
        try:
            check_content(set(_names(connection)))
        except sqlite3.Error as error:
            raise _unreadable(error) from None
        yield connection
    finally:
        connection.close()


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if _code(error) not in _NEEDS_TO_WRITE or _has_open_log(path):
            raise
        # In WAL mode readers write too. Where they cannot, nobody else can either.
        return _connect(path, "mode=ro&immutable=1")


def _has_open_log(path: Path) -> bool:
    log = path.resolve().with_name(f"{path.resolve().name}-wal")
    return log.exists() and log.stat().st_size > 0


def _connect(path: Path, options: str) -> sqlite3.Connection:
    # The path as it is: nothing in a file's name may become an option.
    address = f"file:{quote(str(path.resolve()))}?{options}"
    connection = sqlite3.connect(
        address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.execute("PRAGMA query_only = ON")
        # Views and triggers of a crafted file may call no function with side effects.
        connection.execute("PRAGMA trusted_schema = OFF")
        # The first look into the file: opening alone does not read it.
        connection.execute("PRAGMA schema_version")
        return connection
    except sqlite3.Error:
        connection.close()
        raise


def _rows(connection: sqlite3.Connection, query: Checked, target: Target) -> Collector:
    cursor = connection.execute(query.sql)
    columns = [name for name, *_ in cursor.description or ()]
    collector = Collector(target.limits, columns)
    # Row by row: a few long values must not be in memory together.
    while (row := cursor.fetchone()) is not None:
        if not collector.add_all([row]):
            break
    return collector


def _names(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
    )
    return [name for (name,) in found]


def _catalogue(connection: sqlite3.Connection, target: Target) -> Catalogue:
    found = connection.execute(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    # Modules' tables, such as those of full-text search: reading them runs code.
    hidden = {
        name
        for (name,) in connection.execute(
            "SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow')"
        )
    }
    tables = [
        Table(name, _columns(connection, name), is_view=kind == "view")
        for name, kind in found
        if name not in hidden and target.allowed.has("main", name)
    ]
    return Catalogue(
        tuple(table for table in tables if table.columns),
        frozenset(name.lower() for name in _names(connection)),
    )


def _columns(connection: sqlite3.Connection, table: str) -> tuple[Column, ...]:
    try:
        return tuple(_of_table(connection, table))
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_ERROR:
            raise
        # A view of what is gone.
        return ()


def _of_table(connection: sqlite3.Connection, table: str) -> Iterator[Column]:
    refers = {
        column: f"{other}.{their or column}"
        for _, _, other, column, their, *_ in connection.execute(
            "SELECT * FROM pragma_foreign_key_list(?)", (table,)
        )
    }
    # The longer list: the shorter leaves out columns that are computed.
    for _, name, kind, _, _, key, _ in connection.execute(
        "SELECT * FROM pragma_table_xinfo(?)", (table,)
    ):
        yield Column(name, kind.lower() or "any", bool(key), refers.get(name, ""))
