"""The full-text index over messages, kept up to date by the database itself.

SQLite rebuilds a table for some changes of its columns and drops the triggers with
the old one: a migration that does so installs the index again, as its last operation.
"""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Longer texts are found by their beginning; PostgreSQL refuses an index entry of 1 MB.
INDEXED_LENGTH = 100_000

# Messages have UUIDs and FTS5 wants integers; SQLite's own row numbers do not survive
# a VACUUM. So each message gets a number here, and the index stores no text.
_SQLITE_TABLES = (
    "CREATE TABLE chat_search_row "
    "(id INTEGER PRIMARY KEY, message_id char(32) NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE chat_search USING fts5("
    "content, content='', prefix='2 3', tokenize='unicode61 remove_diacritics 2')",
)
_SQLITE_FORGET = (
    "INSERT INTO chat_search(chat_search, rowid, content) "
    "SELECT 'delete', id, OLD.content FROM chat_search_row "
    "WHERE message_id = OLD.id; "
)
_SQLITE_LEARN = (
    "INSERT INTO chat_search(rowid, content) "
    "SELECT id, NEW.content FROM chat_search_row WHERE message_id = NEW.id; "
)
_SQLITE_TRIGGERS = (
    "CREATE TRIGGER chat_search_added AFTER INSERT ON chat_message BEGIN "
    "INSERT INTO chat_search_row(message_id) VALUES (NEW.id); "
    f"{_SQLITE_LEARN}END",
    "CREATE TRIGGER chat_search_changed AFTER UPDATE OF content ON chat_message "
    "WHEN OLD.content IS NOT NEW.content BEGIN "
    f"{_SQLITE_FORGET}{_SQLITE_LEARN}END",
    "CREATE TRIGGER chat_search_removed AFTER DELETE ON chat_message BEGIN "
    f"{_SQLITE_FORGET}DELETE FROM chat_search_row WHERE message_id = OLD.id; END",
)
_SQLITE_FILL = (
    "INSERT INTO chat_search_row(message_id) SELECT id FROM chat_message",
    "INSERT INTO chat_search(rowid, content) SELECT chat_search_row.id, content "
    "FROM chat_message JOIN chat_search_row ON message_id = chat_message.id",
)
_SQLITE_REMOVE = (
    "DROP TRIGGER IF EXISTS chat_search_added",
    "DROP TRIGGER IF EXISTS chat_search_changed",
    "DROP TRIGGER IF EXISTS chat_search_removed",
    "DROP TABLE IF EXISTS chat_search",
    "DROP TABLE IF EXISTS chat_search_row",
)

# Without ASCII's signs, addresses and port names fall apart alike in texts and in
# questions, whatever the database's locale. The query repeats it to the letter.
POSTGRES_SIGNS = r"[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+"
POSTGRES_VECTOR = (
    f"to_tsvector('simple', regexp_replace(left(content, {INDEXED_LENGTH}), "
    f"'{POSTGRES_SIGNS}', ' ', 'g'))"
)
_POSTGRES_REMOVE = ("DROP INDEX IF EXISTS chat_search",)
_POSTGRES_CREATE = (
    f"CREATE INDEX chat_search ON chat_message USING gin ({POSTGRES_VECTOR})",
)


def install(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the index anew, from all messages there are."""
    remove(apps, editor)
    statements: tuple[str, ...]
    if editor.connection.vendor == "sqlite":
        statements = (*_SQLITE_TABLES, *_SQLITE_TRIGGERS, *_SQLITE_FILL)
    else:
        statements = _POSTGRES_CREATE
    for statement in statements:
        editor.execute(statement, params=None)


def remove(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    is_sqlite = editor.connection.vendor == "sqlite"
    for statement in _SQLITE_REMOVE if is_sqlite else _POSTGRES_REMOVE:
        editor.execute(statement, params=None)
