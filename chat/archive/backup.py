"""The whole installation in one file."""

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from chat.archive import tables
from chat.archive.container import writing
from chat.archive.files import KEYS, add_files
from chat.archive.snapshot import one_moment

KIND = "copilot-backup"
DATABASE = "database.sqlite3"


@dataclass(frozen=True)
class BackupReport:
    """What is in the file."""

    form: str
    files: int
    keys: list[str]


def make_backup(
    path: Path, *, with_keys: bool = False, as_rows: bool = False
) -> BackupReport:
    """Copy all that a new machine needs. Raises ArchiveRefused."""
    is_copied = connection.vendor == "sqlite" and not as_rows
    form = "sqlite" if is_copied else "rows"
    migrations = sorted(MigrationRecorder(connection).applied_migrations())
    about = {"form": form, "migrations": migrations, "has_keys": with_keys}
    with writing(path, KIND, about) as archive:
        if is_copied:
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                copy = Path(folder, DATABASE)
                _copy_database(copy)
                archive.add_file(DATABASE, copy)
        else:
            with one_moment():
                tables.dump(archive)
        added = add_files(archive, settings.DATA_DIR, with_keys=with_keys, but=path)
    return BackupReport(form, len(added), [name for name in added if name in KEYS])


def _copy_database(copy: Path) -> None:
    """SQLite's online backup: readers and writers go on meanwhile."""
    copy.touch(mode=0o600)
    connection.ensure_connection()
    with closing(sqlite3.connect(copy)) as target:
        connection.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
        # Whoever has a session key is logged in; VACUUM leaves no trace of them.
        target.execute("DELETE FROM django_session")
        target.commit()
        target.execute("VACUUM")
