import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scripts.launcher import upgrade
from scripts.launcher.errors import LaunchError


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "copilot.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE chat (text)")
        connection.execute("INSERT INTO chat VALUES ('hello')")
        connection.commit()
    return path


def test_older_database_is_fine() -> None:
    upgrade.refuse_newer([("chat", "0001")], [("chat", "0001"), ("chat", "0002")])


def test_newer_database_is_refused_with_the_unknown_migration() -> None:
    with pytest.raises(LaunchError, match=r"newer version \(chat\.0009_future"):
        upgrade.refuse_newer([("chat", "0009_future")], [("chat", "0001")])


def test_backup_has_the_rows_of_a_database_in_use(
    database: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(database)) as user:
        user.execute("INSERT INTO chat VALUES ('in the WAL')")
        user.commit()

        copy = upgrade.back_up(database, tmp_path / "backups")

    with closing(sqlite3.connect(copy)) as connection:
        rows = connection.execute("SELECT text FROM chat").fetchall()
    assert rows == [("hello",), ("in the WAL",)]
    assert copy.stat().st_mode & 0o777 == 0o600


def test_only_the_newest_backups_stay(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    copies = [upgrade.back_up(database, folder) for _ in range(5)]

    assert sorted(folder.iterdir()) == copies[-upgrade.KEPT_BACKUPS :]


def test_damaged_database_is_said_and_leaves_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "copilot.sqlite3"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(LaunchError, match="can't be backed up"):
        upgrade.back_up(path, tmp_path / "backups")

    assert list((tmp_path / "backups").iterdir()) == []
