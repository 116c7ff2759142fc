"""The product's own data stays out of reach, by whatever name it is called."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from chat.datasources.errors import DataSourceError, SourceRefused
from chat.datasources.ownership import examples_folder
from tests.chat.datasources.conftest import Cluster, reads, sqlite_url, target

pytestmark = pytest.mark.django_db(transaction=True)


def refused(url: str) -> str:
    with pytest.raises(SourceRefused) as caught:
        reads(target(url), "SELECT 1")
    return str(caught.value)


@pytest.fixture
def own() -> Path:
    if connection.vendor != "sqlite":
        pytest.skip("the own database is no file")
    return Path(str(connection.settings_dict["NAME"]))


def test_the_own_file_is_refused(own: Path) -> None:
    assert "own database" in refused(sqlite_url(own))


def test_the_own_file_is_refused_by_other_names(own: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(own)
    os.link(own, hard := own.with_name("hard.sqlite"))
    dotted = own.parent / ".." / own.parent.name / own.name

    try:
        for path in (tmp_path / "link", hard, dotted):
            assert "own database" in refused(sqlite_url(path))
    finally:
        hard.unlink()


def test_a_copy_of_the_own_database_is_refused_by_its_content(
    own: Path, tmp_path: Path
) -> None:
    shutil.copy(own, tmp_path / "copy.sqlite")

    assert "own database" in refused(sqlite_url(tmp_path / "copy.sqlite"))


@pytest.mark.parametrize("name", ["other.sqlite", "projects/x/checkpoints.sqlite"])
def test_files_of_the_data_folder_are_refused(name: str, tmp_path: Path) -> None:
    path = Path(settings.DATA_DIR) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    sqlite3.connect(path).close()
    path.write_bytes(b"")
    (tmp_path / "link.sqlite").symlink_to(path)

    assert "data folder" in refused(sqlite_url(path))
    assert "data folder" in refused(sqlite_url(tmp_path / "link.sqlite"))


def test_examples_of_the_data_folder_may_be_read() -> None:
    folder = examples_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(folder / "a.sqlite") as made:
        made.execute("CREATE TABLE a (b)")
    made.close()

    assert reads(target(sqlite_url(folder / "a.sqlite")), "SELECT 1").rows == [[1]]
    assert "data folder" in refused(
        sqlite_url(folder / ".." / "secret_key_that_is_a_file")
    ) or "no such file" in refused(sqlite_url(folder / ".." / "nothing"))


@pytest.mark.parametrize("path", ["/dev/zero", "/etc", "/proc/self/mem"])
def test_what_is_no_regular_file_is_refused(path: str) -> None:
    with pytest.raises(DataSourceError):
        reads(target(sqlite_url(Path(path))), "SELECT 1")


@pytest.mark.needs("postgres")
def test_a_server_that_holds_our_tables_is_refused(cluster: Cluster) -> None:
    cluster.run("CREATE DATABASE restored", database="postgres")
    cluster.run(
        "CREATE SCHEMA elsewhere",
        "CREATE TABLE django_migrations (id int)",
        "CREATE TABLE elsewhere.chat_chatsession (id int)",
        database="restored",
    )

    assert "own database" in refused(cluster.url(database="restored"))


def test_the_own_server_is_refused_before_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": "db.example.org",
        "PORT": "",
        "NAME": "copilot",
    }
    for key, value in own.items():
        monkeypatch.setitem(connection.settings_dict, key, value)

    assert "own database" in refused("postgresql://other@db.example.org:5432/copilot")
