"""The full-text index over passages' terms, kept up to date by the database itself.

SQLite rebuilds a table for some changes of its columns and drops the triggers with the
old one: a migration that does so installs the index again, as its last operation.
"""

from typing import Any

from django.db import DatabaseError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Rows of the index are numbered as the passages: a number of an AUTOINCREMENT column
# is never used again. The text itself stays in the table.
_SQLITE_CREATE = (
    "CREATE VIRTUAL TABLE knowledge_search USING fts5(terms, "
    "content='knowledge_passage', content_rowid='id', tokenize='unicode61')",
    "CREATE TRIGGER knowledge_search_added AFTER INSERT ON knowledge_passage BEGIN "
    "INSERT INTO knowledge_search(rowid, terms) VALUES (NEW.id, NEW.terms); END",
    "CREATE TRIGGER knowledge_search_changed AFTER UPDATE OF terms "
    "ON knowledge_passage BEGIN "
    "INSERT INTO knowledge_search(knowledge_search, rowid, terms) "
    "VALUES ('delete', OLD.id, OLD.terms); "
    "INSERT INTO knowledge_search(rowid, terms) VALUES (NEW.id, NEW.terms); END",
    "CREATE TRIGGER knowledge_search_removed AFTER DELETE ON knowledge_passage BEGIN "
    "INSERT INTO knowledge_search(knowledge_search, rowid, terms) "
    "VALUES ('delete', OLD.id, OLD.terms); END",
    "INSERT INTO knowledge_search(knowledge_search) VALUES ('rebuild')",
)
_SQLITE_REMOVE = (
    "DROP TRIGGER IF EXISTS knowledge_search_added",
    "DROP TRIGGER IF EXISTS knowledge_search_changed",
    "DROP TRIGGER IF EXISTS knowledge_search_removed",
    "DROP TABLE IF EXISTS knowledge_search",
)
# The query repeats it to the letter.
POSTGRES_VECTOR = "to_tsvector('simple', terms)"
_POSTGRES_CREATE = (
    f"CREATE INDEX knowledge_search ON knowledge_passage USING gin ({POSTGRES_VECTOR})",
)
_POSTGRES_REMOVE = ("DROP INDEX IF EXISTS knowledge_search",)


def install(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the index anew, from all passages there are."""
    remove(apps, editor)
    is_sqlite = editor.connection.vendor == "sqlite"
    for statement in _SQLITE_CREATE if is_sqlite else _POSTGRES_CREATE:
        editor.execute(statement, params=None)
    if not is_sqlite:
        _add_pgvector(editor)


def remove(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    is_sqlite = editor.connection.vendor == "sqlite"
    for statement in _SQLITE_REMOVE if is_sqlite else _POSTGRES_REMOVE:
        editor.execute(statement, params=None)


def _add_pgvector(editor: BaseDatabaseSchemaEditor) -> None:
    """Where the server has it and lets us; numpy does the same without."""
    try:
        with transaction.atomic(using=editor.connection.alias):
            editor.execute("CREATE EXTENSION IF NOT EXISTS vector", params=None)
    except DatabaseError:
        return
    editor.execute(
        "ALTER TABLE knowledge_passage ADD COLUMN IF NOT EXISTS embedding vector",
        params=None,
    )


_known: dict[str, bool] = {}


def has_pgvector(connection: BaseDatabaseWrapper) -> bool:
    """Found out once a process and database."""
    name = str(connection.settings_dict["NAME"])
    if name not in _known:
        with connection.cursor() as cursor:
            columns = connection.introspection.get_table_description(
                cursor, "knowledge_passage"
            )
        _known[name] = any(column.name == "embedding" for column in columns)
    return _known[name]


def forget() -> None:
    """What was found out before."""
    _known.clear()
