import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from scripts.install import ROOT
from scripts.stages import clean_environ

MIGRATE = """
import django
django.setup()
from scripts.launcher.errors import LaunchError
from scripts.prepare import migrate
try:
    migrate()
except LaunchError as exc:
    raise SystemExit(str(exc))
"""


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = clean_environ(os.environ, str(data_dir))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environ | {"DJANGO_SETTINGS_MODULE": "copilot_site.settings"},
        capture_output=True,
        text=True,
    )


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master").fetchall()
    return {name for (name,) in rows}


def test_fresh_folder_gets_all_tables_and_needs_no_backup(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", MIGRATE)

    assert done.returncode == 0, done.stderr
    assert "chat_run" in tables(tmp_path / "copilot.sqlite3")
    assert not (tmp_path / "backups").exists()


def test_older_database_is_copied_then_migrated(tmp_path: Path) -> None:
    run(tmp_path, "-m", "django", "migrate", "auth", "--verbosity", "0")

    done = run(tmp_path, "-c", MIGRATE)

    assert done.returncode == 0, done.stderr
    [copy] = (tmp_path / "backups").iterdir()
    assert "chat_run" in tables(tmp_path / "copilot.sqlite3")
    assert "chat_run" not in tables(copy)
    assert "auth_user" in tables(copy)


def test_newer_database_is_refused_untouched(tmp_path: Path) -> None:
    database = tmp_path / "copilot.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "CREATE TABLE django_migrations"
            " (id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT)"
        )
        connection.execute(
            "INSERT INTO django_migrations"
            " VALUES (1, 'chat', '9999_future', '2030-01-01')"
        )
        connection.commit()

    done = run(tmp_path, "-c", MIGRATE)

    assert done.returncode == 1
    assert "newer version (chat.9999_future is unknown here)" in done.stderr
    assert tables(database) == {"django_migrations"}
    assert not (tmp_path / "backups").exists()
