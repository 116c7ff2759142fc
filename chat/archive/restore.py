"""A backup → this installation, checked whole before the first write."""

import fcntl
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader

from chat.archive import tables
from chat.archive.backup import DATABASE, KIND
from chat.archive.container import Reader, reading
from chat.archive.errors import ArchiveDamaged, TargetRefused
from chat.archive.files import KEYS, check_names, put_back
from chat.knowledge.vectors import fill_pgvector
from copilot_site.lib.fields import Unreadable
from llmconfig.models import LLMConfig
from projects.models import Server

_NO_LIMIT = 2**62
Migration = tuple[str, str]


@dataclass(frozen=True)
class RestoreReport:
    """What came back, and which secrets this installation can't open."""

    files: list[str]
    keys: list[str]
    unreadable: int


def restore_backup(path: Path, *, replace: bool = False) -> RestoreReport:
    """Raises ArchiveRefused; nothing is changed then."""
    with (
        reading(path, KIND, size_limit=_NO_LIMIT) as archive,
        _while_stopped(settings.DATA_DIR),
    ):
        archive.verify()
        check_names(archive)
        is_older = _check_migrations(archive)
        if not replace and not tables.is_empty():
            raise TargetRefused(
                "The database of this installation is not empty. Restore into a new"
                " one, or add --replace to lose what is in it."
            )
        match archive.manifest.get("form"):
            case "sqlite":
                _restore_copy(archive)
            case "rows":
                _restore_rows(archive, is_older=is_older)
            case _:
                raise ArchiveDamaged("The manifest is damaged.")
        try:
            written = put_back(archive, settings.DATA_DIR)
        except OSError as exc:
            raise TargetRefused(
                f"The database was restored, but not every file: {exc.strerror}."
            ) from exc
    keys = [name for name in written if name in KEYS]
    # Keys that just came back are in use from the next start.
    return RestoreReport(written, keys, 0 if keys else _count_unreadable())


@contextmanager
def _while_stopped(data_dir: Path) -> Iterator[None]:
    """Hold the launcher's lock, so that none starts meanwhile."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = data_dir / "lock"
    path.touch(mode=0o600)
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise TargetRefused(f"Copilot runs on {data_dir}. Stop it first.") from exc
        yield


def _check_migrations(archive: Reader) -> bool:
    """Whether the backup is older than this version; a newer one is refused."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known: set[Migration] = set(loader.disk_migrations)
    replaced = {key for one in loader.disk_migrations.values() for key in one.replaces}
    recorded: set[Migration] = set()
    for item in archive.manifest.get("migrations") or ():
        match item:
            case [str(app), str(name)]:
                recorded.add((app, name))
            case _:
                raise ArchiveDamaged("The manifest is damaged.")
    unknown = sorted(recorded - known - replaced)
    if unknown or not recorded:
        names = ", ".join(f"{app}.{name}" for app, name in unknown[:3]) or "nothing"
        raise TargetRefused(
            f"The backup was made by a newer version: {names} is unknown here."
        )
    return bool(known - recorded)


def _restore_copy(archive: Reader) -> None:
    if connection.vendor != "sqlite":
        raise TargetRefused(
            "The backup holds an SQLite database, and this installation has another."
            " Make it with --rows."
        )
    if DATABASE not in archive.parts:
        raise ArchiveDamaged("The backup holds no database.")
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as folder:
        copy = Path(folder, DATABASE)
        archive.extract(DATABASE, copy)
        try:
            with closing(sqlite3.connect(copy)) as source:
                if source.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                    raise ArchiveDamaged("The database of the backup is damaged.")
                connection.ensure_connection()
                source.backup(connection.connection)
        except sqlite3.Error as exc:
            raise TargetRefused(f"The database can't be restored: {exc}.") from exc
    # Nothing is left to do where the version is the same.
    call_command("migrate", interactive=False, verbosity=0)


def _restore_rows(archive: Reader, *, is_older: bool) -> None:
    if is_older:
        raise TargetRefused(
            "The backup was made by an older version. Restore it with that version,"
            " then upgrade."
        )
    tables.check(archive)
    call_command("migrate", interactive=False, verbosity=0)
    try:
        with transaction.atomic():
            tables.load(archive)
            fill_pgvector()
    except Error as exc:
        raise ArchiveDamaged("The rows of the backup do not fit together.") from exc


def _count_unreadable() -> int:
    """Stored secrets that no key of this installation opens."""
    secrets = (
        *LLMConfig.objects.values_list("api_key", flat=True),
        *Server.objects.values_list("password", flat=True),
    )
    return sum(isinstance(secret, Unreadable) for secret in secrets)
