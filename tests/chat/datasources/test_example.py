"""The shipped database: always the same, registered once, found after a move."""

import sqlite3
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from chat.datasources.example import ensure_example, write_example
from chat.datasources.models import DataSource
from chat.datasources.ownership import examples_folder
from chat.datasources.probing import faults_of


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    write_example(tmp_path / "a.sqlite")
    write_example(tmp_path / "b.sqlite")

    assert (tmp_path / "a.sqlite").read_bytes() == (tmp_path / "b.sqlite").read_bytes()
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        counts = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for (name,) in connection.execute("SELECT name FROM sqlite_schema "
                "WHERE type = 'table'").fetchall()
        }  # fmt: skip
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert len(counts) >= 6
    assert counts["order_lines"] > 500


def test_it_is_registered_once_and_an_operators_changes_stay(alice: User) -> None:
    ensure_example()
    DataSource.objects.update(title="Ours", is_enabled=False)
    ensure_example()

    source = DataSource.objects.get()
    assert (source.slug, source.title, source.is_enabled) == (
        "inventory",
        "Ours",
        False,
    )
    assert faults_of(source) == []


@pytest.mark.django_db(transaction=True)
def test_a_lost_or_old_file_is_written_again_and_a_move_is_followed() -> None:
    ensure_example()
    path = examples_folder() / "inventory.sqlite"
    path.write_bytes(b"")
    source = DataSource.objects.get()
    source.url = "sqlite:////old/data/examples/inventory.sqlite"
    source.save()

    ensure_example()

    source.refresh_from_db()
    assert faults_of(source) == []
    assert str(path) in source.url
