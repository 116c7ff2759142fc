"""An installation comes back elsewhere, row by row; no secret leaves with it."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from chat.archive import tables
from chat.archive.container import PartInfo
from chat.archive.errors import ArchiveDamaged
from chat.archive.files import check_names, kept_files
from chat.models import ChatSession, Message, Run
from llmconfig.models import LLMConfig
from projects.models import Server
from tests.chat.archive.conftest import Call
from tests.chat.archive.installation import Installation, manifest, table_rows
from tests.chat.archive.samples import CANARIES

pytestmark = pytest.mark.database

FILES = {
    "documents/a/notes.db": b"of a person",
    "documents/b.log": b"of a person too",
    "demolab.json": b"{}",
    "secret_key": b"canary-secret-key",
    "encryption_key": b"canary-encryption-key",
    "credentials": b"demo canary-password\n",
    "logs/web.log": b"canary-log",
    "valkey/appendonly.aof": b"canary-aof",
    "backups/old.sqlite3": b"canary-old",
    "projects/p/gns3-copilot/copilot_checkpoints.db": b"canary-checkpoint",
    "copilot.sqlite3": b"canary-database",
    "lock": b"1",
}
Elsewhere = Callable[..., Installation]


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The DATA_DIR of this installation, with files of every kind."""
    folder = tmp_path / "here"
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "link").symlink_to("/etc/passwd")
    monkeypatch.setattr(settings, "DATA_DIR", folder)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    made: list[Installation] = []

    def make(name: str = "there", **options: bool) -> Installation:
        made.append(Installation(tmp_path / name, **options))
        return made[-1]

    yield make
    for installation in made:
        installation.drop()


def content(path: Path) -> bytes:
    with zipfile.ZipFile(path) as opened:
        return b"".join(opened.read(name) for name in opened.namelist())


def test_every_row_and_file_comes_back_elsewhere(
    call: Call,
    elsewhere: Elsewhere,
    filled: ChatSession,
    data_dir: Path,
    tmp_path: Path,
) -> None:
    there = elsewhere()
    assert "files" in call("backup", tmp_path / "all.zip")
    call("backup", tmp_path / "rows.zip", "--rows")

    said = there.run("restore", tmp_path / "all.zip")

    assert "Restored the database and 3 files" in said
    assert "other keys" not in said
    there.run("backup", tmp_path / "again.zip", "--rows")
    rows = table_rows(tmp_path / "rows.zip")
    assert table_rows(tmp_path / "again.zip") == rows
    assert sum(map(len, rows.values())) > 60
    for name in ("documents/a/notes.db", "documents/b.log", "demolab.json"):
        path = there.data_dir / name
        assert path.read_bytes() == FILES[name]
        assert path.stat().st_mode & 0o777 == 0o600
    assert not (there.data_dir / "logs").exists()


def test_rows_come_back_in_place(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    call("backup", tmp_path / "all.zip", "--rows")
    Message.objects.all().delete()
    Server.objects.update(password="changed")

    assert "not empty" in call("restore", tmp_path / "all.zip")
    assert "Restored" in call("restore", tmp_path / "all.zip", "--replace")

    call("backup", tmp_path / "again.zip", "--rows")
    assert table_rows(tmp_path / "again.zip") == table_rows(tmp_path / "all.zip")
    assert Server.objects.get().password == CANARIES["server password"]
    assert LLMConfig.objects.get().api_key == CANARIES["api key"]
    assert Run.objects.get(round=2).secrets == CANARIES["run secrets"]


def test_numbering_goes_on_after_a_restore(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    call("backup", tmp_path / "all.zip", "--rows")
    call("restore", tmp_path / "all.zip", "--replace")

    new = ChatSession.objects.create(user=filled.user)

    assert new.pk > filled.pk


def test_no_key_or_secret_is_in_a_backup(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    session = SessionStore()
    session["canary"] = 1
    session.create()
    assert session.session_key

    for number, option in enumerate([[], ["--rows"]]):
        path = tmp_path / f"{number}.zip"
        assert "It holds no keys" in call("backup", path, *option)
        found = content(path)
        # The others are in a message too: somebody typed them.
        for what in (CANARIES["api key"], session.session_key):
            assert what.encode() not in found
        for what in (b"canary-secret-key", b"canary-encryption-key", b"canary-pass"):
            assert what not in found
        for what in (b"canary-log", b"canary-aof", b"canary-old", b"canary-check"):
            assert what not in found
        assert b"root:" not in found
        assert path.stat().st_mode & 0o777 == 0o600
    assert Session.objects.exists()


def test_keys_travel_when_asked_and_are_announced(
    call: Call,
    elsewhere: Elsewhere,
    filled: ChatSession,
    data_dir: Path,
    tmp_path: Path,
) -> None:
    there = elsewhere(own_keys=True)
    said = call("backup", tmp_path / "all.zip", "--with-keys")
    assert "It holds keys in clear" in said

    said = there.run("restore", tmp_path / "all.zip")

    assert "Keys came back (credentials, encryption_key, secret_key)" in said
    assert (there.data_dir / "encryption_key").read_bytes() == FILES["encryption_key"]
    kept = there.data_dir / "encryption_key.before-restore"
    assert len(kept.read_text()) > 40


def test_secrets_of_other_keys_are_reported_and_kept(
    call: Call,
    elsewhere: Elsewhere,
    filled: ChatSession,
    data_dir: Path,
    tmp_path: Path,
) -> None:
    there = elsewhere(own_keys=True)
    call("backup", tmp_path / "all.zip", "--rows")

    said = there.run("restore", tmp_path / "all.zip")

    assert "2 stored secrets were encrypted with other keys" in said
    there.run("backup", tmp_path / "again.zip", "--rows")
    assert table_rows(tmp_path / "again.zip") == table_rows(tmp_path / "all.zip")


def test_a_backup_of_rows_moves_from_one_kind_of_database_to_another(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    there = Installation(tmp_path / "sqlite")
    there.env.pop("DATABASE_URL", None)
    call("backup", tmp_path / "all.zip", "--rows")

    assert "Restored" in there.run("restore", tmp_path / "all.zip")

    there.run("backup", tmp_path / "again.zip", "--rows")
    assert table_rows(tmp_path / "again.zip") == table_rows(tmp_path / "all.zip")
    there.run("backup", tmp_path / "copy.zip")
    there.drop()
    if connection.vendor == "postgresql":
        said = call("restore", tmp_path / "copy.zip", "--replace")
        assert "Make it with --rows" in said


def test_a_changed_backup_is_refused(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    path = tmp_path / "all.zip"
    call("backup", path)
    whole = path.read_bytes()
    before = Message.objects.count()
    for place in range(60, len(whole), len(whole) // 12):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        said = call("restore", path, "--replace")
        assert said.startswith("ERROR") or "Restored" in said
        assert Message.objects.count() == before
    path.write_bytes(whole[:-30])
    assert "is no archive, or damaged" in call("restore", path, "--replace")


def test_rows_that_do_not_fit_together_change_nothing(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    call("backup", tmp_path / "all.zip", "--rows")
    name = "tables/chat.message.jsonl"
    for text, new in (
        (b'"chat.message"', b'"auth.user"'),
        (b'"round": 1', b'"round": "x"'),
        (b'"role"', b'"roll"'),
        (str(filled.pk).encode(), b"999999"),
    ):
        change(tmp_path / "all.zip", tmp_path / "bad.zip", name, text, new)
        said = call("restore", tmp_path / "bad.zip", "--replace")
        assert said.startswith("ERROR"), (text, said)
        assert Message.objects.count() == 6


def change(source: Path, target: Path, name: str, text: bytes, new: bytes) -> None:
    """One part changed, with a manifest that fits."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as made:
        told = json.loads(old.read("manifest.json"))
        for part in told["parts"]:
            data = old.read(part)
            if part == name:
                if text.isdigit():
                    data = data.replace(b'"session": ' + text, b'"session": ' + new)
                data = data.replace(text, new) if not text.isdigit() else data
                told["parts"][part]["sha256"] = hashlib.sha256(data).hexdigest()
                told["parts"][part]["size"] = len(data)
            made.writestr(part, data)
        made.writestr("manifest.json", json.dumps(told))


def test_a_backup_of_a_newer_version_is_refused(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    call("backup", tmp_path / "all.zip", "--rows")
    for change_of, reason in (
        (
            lambda found: [*found, ["chat", "9999_future"]],
            "chat.9999_future is unknown",
        ),
        (lambda found: found[:-1], "made by an older version"),
        (lambda found: [], "newer version"),
        (lambda found: [3], "manifest is damaged"),
    ):
        told = manifest(tmp_path / "all.zip")
        told["migrations"] = change_of(told["migrations"])
        with (
            zipfile.ZipFile(tmp_path / "all.zip") as old,
            zipfile.ZipFile(tmp_path / "bad.zip", "w") as made,
        ):
            for name in old.namelist():
                if name != "manifest.json":
                    made.writestr(name, old.read(name))
            made.writestr("manifest.json", json.dumps(told))

        assert reason in call("restore", tmp_path / "bad.zip", "--replace")


def test_a_running_server_is_not_restored_over(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    call("backup", tmp_path / "all.zip")
    hold = "import fcntl,sys;f=open(sys.argv[1],'r+');fcntl.flock(f,2);print();input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, data_dir / "lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()
        said = call("restore", tmp_path / "all.zip", "--replace")
        server.communicate(b"\n")

    assert "Copilot runs on" in said


def test_an_export_of_a_project_is_no_backup(
    call: Call, filled: ChatSession, data_dir: Path, tmp_path: Path
) -> None:
    assert filled.project is not None
    call("export_project", filled.project.project_id, tmp_path / "lab.zip")

    assert "is no copilot backup" in call("restore", tmp_path / "lab.zip", "--replace")


def test_a_backup_inside_data_dir_does_not_hold_itself(
    call: Call, filled: ChatSession, data_dir: Path
) -> None:
    call("backup", data_dir / "all.zip")

    assert "files/all.zip" not in zipfile.ZipFile(data_dir / "all.zip").namelist()
    assert not list(data_dir.glob("*.part"))


def test_every_table_is_in_a_backup_but_logins() -> None:
    ours = {model._meta.db_table for model in tables.tables()}
    every = {
        model._meta.db_table for model in apps.get_models(include_auto_created=True)
    }

    assert every - ours == {"django_session"}
    order = [model._meta.label for model in tables.tables()]
    assert order.index("auth.User") < order.index("chat.ChatSession")
    assert order.index("chat.Message") < order.index("chat.ToolCall")


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "a/../../x", "/etc/passwd", "a//b", "", ".", "a/./b", "a\0b"),
        *("copilot.sqlite3", "lock", "valkey/x", "backups/x", "logs/x"),
    ],
)
def test_files_that_would_leave_data_dir_are_refused(name: str) -> None:
    with pytest.raises(ArchiveDamaged):
        check_names(_Parts(f"files/{name}"))  # type: ignore[arg-type]


class _Parts:
    def __init__(self, *names: str) -> None:
        self.parts = {name: PartInfo(0, "") for name in names}


@given(st.text(min_size=1, max_size=30))
def test_names_that_pass_stay_inside(name: str) -> None:
    try:
        check_names(_Parts(f"files/{name}"))  # type: ignore[arg-type]
    except ArchiveDamaged:
        return
    inside = os.path.normpath(os.path.join("/data", name))
    assert inside.startswith("/data/")
    assert inside == f"/data/{name}"


def test_links_and_running_work_are_left_out(data_dir: Path) -> None:
    found = {path.as_posix() for path in kept_files(data_dir, with_keys=True)}

    assert found == {
        *("documents/a/notes.db", "documents/b.log", "demolab.json"),
        *("secret_key", "encryption_key", "credentials"),
    }
