"""PostgreSQL: a read-only transaction of a role that may do nothing but read."""

import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

import psycopg
from psycopg import sql

from chat.datasources.cells import CELL_LENGTH, Collector
from chat.datasources.engines.base import Target
from chat.datasources.errors import (
    QueryFailed,
    QueryTooSlow,
    SourceRefused,
    SourceUnavailable,
)
from chat.datasources.guard import Checked
from chat.datasources.ownership import OWN_TABLES, check_content, check_not_own
from chat.datasources.pool import Pool
from chat.datasources.tables import Catalogue, Column, Table
from chat.datasources.threads import Cancel, too_slow

logger = logging.getLogger(__name__)

Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_SECONDS = 5
_LOCK_SECONDS = 2.0
_CANCEL_SECONDS = 2.0
_BATCH = 50
# Types whose values are short and that Python knows whole; all others are texts that
# are cut on the server. Times too: there is no 24:00, infinity or year 10000 in Python.
_SHORT = """
bool int2 int4 int8 float4 float8 numeric uuid inet cidr macaddr macaddr8 money oid
char name
"""
_ROLE = """
SELECT r.rolsuper OR r.rolreplication OR r.rolcreaterole OR EXISTS (
    SELECT FROM pg_roles AS g
    WHERE g.rolname IN (
        'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
        'pg_write_all_data', 'pg_signal_backend'
    ) AND pg_has_role(r.oid, g.oid, 'MEMBER')
)
FROM pg_roles AS r WHERE r.rolname = current_user
"""
_OWN = "SELECT relname FROM pg_class WHERE relname = ANY(%s)"
_COLUMNS = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), a.attname,
    format_type(a.atttypid, a.atttypmod),
    EXISTS (
        SELECT FROM pg_index AS i
        WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY(i.indkey)
    ),
    (
        SELECT f.relname || '.' || b.attname
        FROM pg_constraint AS k
        JOIN pg_class AS f ON f.oid = k.confrelid
        JOIN pg_attribute AS b ON b.attrelid = f.oid AND b.attnum = k.confkey[1]
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
        LIMIT 1
    )
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
    AND n.nspname NOT IN ('information_schema') AND n.nspname NOT LIKE 'pg\\_%'
    AND has_schema_privilege(n.oid, 'USAGE')
    AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum
LIMIT 20000
"""
_NAMES = "SELECT DISTINCT lower(relname) FROM pg_class WHERE relkind <> ALL('{i,I,t}')"
_SETTINGS = """
SELECT set_config(s.name, s.value, true)
FROM unnest(%s::text[], %s::text[]) AS s(name, value)
"""
_WRITABLE = """
SELECT n.nspname || '.' || c.relname
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname <> 'information_schema'
    AND n.nspname NOT LIKE 'pg\\_%'
    AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
ORDER BY 1 LIMIT 5
"""
_MAY_CREATE = """
SELECT nspname FROM pg_namespace
WHERE nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(oid, 'CREATE')
ORDER BY 1 LIMIT 5
"""


class PostgreSQL:
    def __init__(self) -> None:
        self._pools: dict[str, Pool[Connection]] = {}
        self._lock = threading.Lock()

    def catalogue(self, target: Target) -> Catalogue:
        with self._borrowed(target) as connection, _transaction(connection):
            found = connection.execute(_COLUMNS).fetchall()
            names = connection.execute(_NAMES).fetchall()
        columns: dict[tuple[str, str, bool], list[Column]] = defaultdict(list)
        for schema, table, is_view, column, kind, is_key, refers in found:
            if target.allowed.has(schema, table):
                columns[schema, table, is_view].append(
                    Column(column, kind, is_key, refers or "")
                )
        return Catalogue(
            tuple(
                Table(name, tuple(of_table), schema, is_view)
                for (schema, name, is_view), of_table in columns.items()
            ),
            frozenset(name for (name,) in names),
        )

    def read(self, target: Target, query: Checked, cancel: Cancel) -> Collector:
        seconds = target.limits.seconds
        with self._borrowed(target) as connection:
            try:
                with (
                    cancel.by(lambda: _cancel(connection)),
                    _transaction(connection, seconds=seconds),
                ):
                    return _rows(connection, query, target, cancel)
            except psycopg.errors.QueryCanceled:
                raise QueryTooSlow(too_slow(seconds)) from None
            except psycopg.errors.LockNotAvailable:
                raise QueryFailed("A table is locked by others; try later.") from None
            except psycopg.errors.Error as error:
                if connection.broken or not error.diag.message_primary:
                    raise _gone(error) from None
                raise QueryFailed(
                    f"The database says: {error.diag.message_primary}."
                ) from None

    def warnings(self, target: Target) -> list[str]:
        with self._borrowed(target) as connection, _transaction(connection):
            writable = connection.execute(_WRITABLE).fetchall()
            creates = connection.execute(_MAY_CREATE).fetchall()
        found = []
        if writable:
            names = ", ".join(name for (name,) in writable)
            found.append(f"The role may change tables: {names}. It needs SELECT only.")
        if creates:
            names = ", ".join(name for (name,) in creates)
            found.append(f"The role may create in: {names}. Revoke CREATE.")
        return found

    @contextlib.contextmanager
    def _borrowed(self, target: Target) -> Iterator[Connection]:
        with self._pool(target).borrow() as connection:
            yield connection

    def _pool(self, target: Target) -> Pool[Connection]:
        """A changed row has a new key; what the old one holds is closed."""
        source = target.key.partition(":")[0]
        with self._lock:
            old = [
                key
                for key in self._pools
                if key != target.key and key.partition(":")[0] == source
            ]
            closing = [self._pools.pop(key) for key in old]
            if target.key not in self._pools:
                self._pools[target.key] = Pool(lambda: _connect(target), _is_alive)
            pool = self._pools[target.key]
        for one in closing:
            one.close()
        return pool


def _connect(target: Target) -> Connection:
    """Logged in with a role that cannot harm. Raises SourceRefused, -Unavailable."""
    address = target.address
    check_not_own(address)
    try:
        connection = psycopg.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
            user=address.user or None,
            password=address.password or None,
            connect_timeout=_CONNECT_SECONDS,
            tcp_user_timeout=int((target.limits.seconds + 10) * 1000),
            application_name="copilot data source",
            # A database without an encoding would answer in bytes.
            client_encoding="UTF8",
            prepare_threshold=None,
            **cast(dict[str, Any], dict(address.options)),
        )
    except psycopg.Error as error:
        raise _gone(error) from None
    try:
        _settle(connection)
        return connection
    except BaseException:
        connection.close()
        raise


def _settle(connection: Connection) -> None:
    try:
        connection.read_only = True
        with _transaction(connection, seconds=_CONNECT_SECONDS):
            (is_powerful,) = connection.execute(_ROLE).fetchone() or (True,)
            if is_powerful:
                raise SourceRefused(
                    "This database role can do more than read: superusers, roles that "
                    "create roles or replicate, and roles that read or write files of "
                    "the server are refused. Make one with SELECT rights only."
                )
            own = connection.execute(_OWN, [sorted(OWN_TABLES)]).fetchall()
            check_content({name for (name,) in own})
    except psycopg.Error as error:
        raise _gone(error) from None


@contextlib.contextmanager
def _transaction(connection: Connection, *, seconds: float = 5.0) -> Iterator[None]:
    """Read only, bounded in time, and always rolled back."""
    milliseconds = int(seconds * 1000)
    settings = {
        "statement_timeout": str(milliseconds),
        "lock_timeout": str(int(min(seconds, _LOCK_SECONDS) * 1000)),
        "idle_in_transaction_session_timeout": str(milliseconds + 10_000),
        # No function or type of other schemas takes the place of a built-in one.
        "search_path": "pg_catalog",
        "standard_conforming_strings": "on",
        "DateStyle": "ISO",
    }
    try:
        connection.execute(_SETTINGS, [list(settings), list(settings.values())])
        yield
    finally:
        if not connection.broken and not connection.closed:
            connection.rollback()


def _rows(
    connection: Connection, query: Checked, target: Target, cancel: Cancel
) -> Collector:
    deadline = time.monotonic() + target.limits.seconds
    if cancel.is_set():
        raise QueryTooSlow(too_slow(target.limits.seconds))
    # Composed of the guard's own text; `%` in it means nothing without parameters.
    inner = sql.SQL(query.sql)
    # As a subquery: what the guard took for one SELECT must be one to the server too.
    shape = (
        connection.execute(
            sql.SQL("SELECT * FROM ({}) AS q LIMIT 0").format(inner)
        ).description
        or []
    )
    collector = Collector(target.limits, [column.name for column in shape])
    if not shape:
        return collector
    # Found only by place: two columns may have one name.
    names = [f"c{number}" for number in range(len(shape))]
    cut = [_cut(name, column) for name, column in zip(names, shape, strict=True)]
    statement = sql.SQL("SELECT {} FROM ({}) AS q({})").format(
        sql.SQL(", ").join(cut),
        inner,
        sql.SQL(", ").join(map(sql.Identifier, names)),
    )
    with connection.cursor(name="copilot") as cursor:
        cursor.execute(statement)
        while rows := cursor.fetchmany(min(_BATCH, target.limits.rows + 1)):
            if not collector.add_all(rows):
                break
            if cancel.is_set() or time.monotonic() > deadline:
                raise QueryTooSlow(too_slow(target.limits.seconds))
    return collector


def _cut(name: str, column: psycopg.Column) -> sql.Composable:
    """A value as it is, or no more of it than will be shown."""
    this = sql.Identifier(name)
    kind = psycopg.adapters.types.get(column.type_code)
    known = kind.name if kind is not None and kind.oid == column.type_code else ""
    if known in _SHORT.split():
        return this
    if known == "bytea":
        return sql.SQL("'<' || octet_length({}) || ' bytes>'").format(this)
    return sql.SQL("left({}::text, {})").format(this, sql.Literal(CELL_LENGTH + 1))


def _is_alive(connection: Connection) -> bool:
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except psycopg.Error:
        return False
    return True


def _cancel(connection: Connection) -> None:
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=_CANCEL_SECONDS)


def _gone(error: psycopg.Error) -> SourceUnavailable:
    # Its text may hold host and user; the log masks what is secret.
    logger.warning("A data source does not answer: %s", error)
    return SourceUnavailable("The database does not answer, or refuses the login.")
