"""An older database is copied before it is changed; a newer one is left alone."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from scripts.launcher.errors import LaunchError

KEPT_BACKUPS = 3
Migration = tuple[str, str]


def refuse_newer(recorded: Iterable[Migration], known: Iterable[Migration]) -> None:
    """Raise when the database has seen a migration that this code does not know."""
    unknown = sorted(set(recorded) - set(known))
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in unknown[:3])
        raise LaunchError(
            f"The database was made by a newer version ({names} is unknown here)."
            " Run that version, or choose another DATA_DIR. Nothing was changed."
        )


def back_up(database: Path, folder: Path) -> Path:
    """Copy a SQLite database that may be in use; keep the newest copies only."""
    folder.mkdir(mode=0o700, exist_ok=True)
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    copy = folder / f"{database.stem}-{now}{database.suffix}"
    copy.touch(mode=0o600)
    try:
        with (
            closing(sqlite3.connect(database)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as exc:
        copy.unlink()
        raise LaunchError(
            f"The database can't be backed up before its upgrade: {exc}."
        ) from exc

    copies = sorted(folder.glob(f"{database.stem}-*{database.suffix}"))
    for old in copies[:-KEPT_BACKUPS]:
        old.unlink()
    return copy
