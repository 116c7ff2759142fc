"""A project's conversations leave for another installation, and no secret with them."""

import json
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers

from chat.agent.window import as_messages
from chat.archive.columns import PARTS
from chat.history import newest_messages
from chat.models import Approval, ChatSession, LLMCall, Message, Run, ToolCall
from chat.models.run import Status
from projects.models import Project, Server
from tests.chat.archive.conftest import Call
from tests.chat.archive.samples import CANARIES, ledger
from tests.chat.support import make_run, make_session

pytestmark = pytest.mark.database

MODELS = (ChatSession, Run, Message, ToolCall, Approval, LLMCall)
# Different here on purpose: keys of this database, and what is never archived.
OWN = {"session", "worker", "llm_config", "request_key", "user", "project"}


@pytest.fixture
def archive(call: Call, filled: ChatSession, lab: Project, tmp_path: Path) -> Path:
    path = tmp_path / "lab.zip"
    said = call("export_project", lab.project_id, path)
    assert "1 sessions, 2 runs, 6 messages, 2 tool calls, 1 approvals" in said
    return path


def rows(*, finished_only: bool = True) -> list[Any]:
    """As the archive should bring them back."""
    found = []
    for model in MODELS:
        for item in serializers.serialize("python", model.objects.all()):
            kept = {k: v for k, v in item["fields"].items() if k not in OWN}
            is_open = kept.get("round") == 2 or kept.get("status") in (
                *("running", "started", "lost"),
                "cancelled",
            )
            if not (finished_only and is_open):
                found.append([item["model"], sorted(kept.items(), key=str)])
    return sorted(found, key=str)


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return path


Change = Callable[[dict[str, Any]], None]


def forged(path: Path, part: str, change: Change, number: int = 0) -> Path:
    """The archive with one line changed, and a manifest that fits."""
    import hashlib

    parts = unpacked(path)
    lines = parts[part].splitlines()
    line = json.loads(lines[number])
    change(line)
    lines[number] = json.dumps(line).encode()
    parts[part] = b"\n".join(lines) + b"\n"
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"][part]["sha256"] = hashlib.sha256(parts[part]).hexdigest()
    manifest["parts"][part]["size"] = len(parts[part])
    parts["manifest.json"] = json.dumps(manifest).encode()
    return packed(path.with_name("forged.zip"), parts)


# --- Out ----------------------------------------------------------------------


def test_no_secret_is_in_the_archive(archive: Path) -> None:
    text = b"".join(unpacked(archive).values()).decode()

    assert "Why can't PC1 reach PC2?" in text
    for what, canary in CANARIES.items():
        assert canary not in text, what
    assert "The password is ••••" in text
    assert archive.stat().st_mode & 0o777 == 0o600


def test_every_field_is_archived_or_left_out_on_purpose() -> None:
    for part in PARTS:
        known = {*part.columns, *part.left_out} | {f"{name}_id" for name in part.links}
        fields = {field.attname for field in part.model._meta.concrete_fields}
        assert fields <= known, part.name
        assert {*part.columns, *part.left_out} <= fields, part.name


def test_an_existing_file_is_not_overwritten(
    call: Call, archive: Path, lab: Project
) -> None:
    before = archive.read_bytes()

    assert "exists already" in call("export_project", lab.project_id, archive)
    assert archive.read_bytes() == before


def test_other_projects_stay_out(
    call: Call, lab: Project, alice: User, tmp_path: Path
) -> None:
    other = Server.objects.create(name="other", url="http://127.0.0.1:10")
    twin = Project.objects.create(server=other, project_id=lab.project_id, name="Twin")
    make_run(make_session(alice, twin), text="of the twin")
    make_run(make_session(alice, None), text="of no project")
    make_run(make_session(alice, lab), text="of the lab")

    said = call("export_project", lab.project_id, tmp_path / "x.zip")
    assert "choose with --server" in said
    call("export_project", lab.project_id, tmp_path / "x.zip", "--server=lab-server")

    text = unpacked(tmp_path / "x.zip")["messages.jsonl"].decode()
    assert "of the lab" in text
    assert "of the twin" not in text
    assert "of no project" not in text


# --- In -----------------------------------------------------------------------


def test_sessions_come_back_as_they_were(
    call: Call, archive: Path, filled: ChatSession
) -> None:
    before = rows()
    ChatSession.objects.all().delete()
    LLMCall.objects.all().delete()

    said = call("import_project", archive)

    assert "1 imported" in said
    assert "ERROR" not in said
    assert rows() == before


def test_a_second_import_changes_nothing(call: Call, archive: Path) -> None:
    ChatSession.objects.all().delete()
    call("import_project", archive)
    before = rows(finished_only=False)

    said = call("import_project", archive)

    assert "1 unchanged" in said
    assert rows(finished_only=False) == before


def test_what_was_in_progress_is_stopped_and_can_be_continued(
    call: Call, archive: Path, filled: ChatSession
) -> None:
    ChatSession.objects.all().delete()
    call("import_project", archive)
    session = ChatSession.objects.get()

    open_run = session.runs.get(round=2)
    assert (open_run.status, open_run.reason) == (
        Status.STOPPED,
        "imported_unfinished",
    )
    assert open_run.secrets == ""
    assert ToolCall.objects.get(call_id="c2").status == "cancelled"
    assert set(session.llm_calls.values_list("status", flat=True)) == {
        "succeeded",
        "lost",
    }
    make_run(session, round=3, text="And now?")
    messages = as_messages(newest_messages(session, limit=100))
    assert [message.type for message in messages] == [
        *("human", "ai", "tool", "ai"),
        *("human", "ai", "tool"),
        "human",
    ]


def test_users_are_mapped_or_made_or_reported(
    call: Call, archive: Path, alice: User, bob: User
) -> None:
    ChatSession.objects.all().delete()
    alice.delete()

    said = call("import_project", archive)
    assert "There is no user alice here" in said
    assert "ERROR Not everything was imported" in said
    assert not ChatSession.objects.exists()

    said = call("import_project", archive, "--user-map=alice=bob")
    assert "bob has no role in Campus" in said
    assert ChatSession.objects.get().user == bob
    assert Approval.objects.get().decided_by == bob

    ChatSession.objects.all().delete()
    assert "User alice was made" in call("import_project", archive, "--create-users")
    made = ChatSession.objects.get().user
    assert (made.username, made.is_active, made.has_usable_password()) == (
        "alice",
        False,
        False,
    )


def test_an_archive_goes_to_another_server_and_project(
    call: Call, archive: Path, lab: Project
) -> None:
    Server.objects.create(name="other", url="http://127.0.0.1:10")
    ChatSession.objects.all().delete()
    new = str(uuid.uuid4())

    assert "Choose a server of these" in call("import_project", archive)
    assert "is a UUID" in call(
        "import_project", archive, "--server=other", "--project=x"
    )
    said = call("import_project", archive, "--server=other", f"--project={new}")

    assert "Campus was not known here until now" in said
    session = ChatSession.objects.get()
    assert session.project is not None
    assert (session.project.server.name, session.project.project_id) == ("other", new)
    assert set(LLMCall.objects.values_list("project_id", flat=True)) >= {new}


def test_the_ledger_of_deleted_sessions_travels_once(
    call: Call, filled: ChatSession, lab: Project, tmp_path: Path
) -> None:
    LLMCall.objects.all().delete()
    ChatSession.objects.all().delete()
    ledger(None, None, project_id=lab.project_id)
    path = tmp_path / "ledger.zip"
    call("export_project", lab.project_id, path)
    LLMCall.objects.all().delete()

    call("import_project", path)
    call("import_project", path)

    assert LLMCall.objects.get().input_tokens == 20


def test_the_ledger_that_outlived_its_session_is_not_doubled(
    call: Call, archive: Path, filled: ChatSession
) -> None:
    before = LLMCall.objects.count()
    ChatSession.objects.all().delete()

    call("import_project", archive)

    assert LLMCall.objects.count() == before
    assert ChatSession.objects.get().llm_calls.count() == before


def test_a_session_of_another_user_is_refused(
    call: Call, archive: Path, filled: ChatSession, bob: User
) -> None:
    ChatSession.objects.update(user=bob)
    before = rows(finished_only=False)

    said = call("import_project", archive)

    assert "belongs to another user or project" in said
    assert rows(finished_only=False) == before


# --- Refused ---------------------------------------------------------------------


def test_a_changed_or_cut_archive_is_refused_before_anything_is_written(
    call: Call, archive: Path
) -> None:
    ChatSession.objects.all().delete()
    whole, path = archive.read_bytes(), archive.with_name("bad.zip")
    parts = unpacked(archive)

    path.write_bytes(whole[: len(whole) // 2])
    assert "is no archive, or damaged. Nothing" in call("import_project", path)
    path.write_bytes(b"PK\x03\x04 something else")
    assert "is no archive" in call("import_project", path)
    assert "can't be read" in call("import_project", path.with_name("none.zip"))

    changed = {**parts, "messages.jsonl": parts["messages.jsonl"] + b"{}\n"}
    assert "checksum" in call("import_project", packed(path, changed))
    missing = {k: v for k, v in parts.items() if k != "runs.jsonl"}
    assert "manifest lists" in call("import_project", packed(path, missing))
    more = {**parts, "../../evil.txt": b"x", "/etc/evil": b"x"}
    assert "manifest lists" in call("import_project", packed(path, more))
    foreign = {"word/document.xml": b"<x/>"}
    assert "is no copilot project archive" in call(
        "import_project", packed(path, foreign)
    )
    newer = json.loads(parts["manifest.json"]) | {"version": 2}
    assert "newer version" in call(
        "import_project",
        packed(path, {**parts, "manifest.json": json.dumps(newer).encode()}),
    )
    assert not ChatSession.objects.exists()


def test_flipped_bytes_are_never_imported(call: Call, archive: Path) -> None:
    ChatSession.objects.all().delete()
    path = archive.with_name("flipped.zip")
    whole = archive.read_bytes()
    for place in range(40, len(whole) - 22, len(whole) // 40):
        flipped = bytearray(whole)
        flipped[place] ^= 0x55
        path.write_bytes(flipped)
        said = call("import_project", path)
        # A date in the zip's own directory is nobody's data.
        assert "ERROR" in said or "1 imported" in said
        if "ERROR" in said:
            assert not ChatSession.objects.exists()
        ChatSession.objects.all().delete()


def test_a_bomb_is_refused_by_its_size(call: Call, archive: Path) -> None:
    parts = unpacked(archive)
    parts["messages.jsonl"] = b" " * 50_000_000
    path = packed(archive.with_name("bomb.zip"), parts)
    assert path.stat().st_size < 200_000

    said = call("import_project", path, "--max-bytes=10000000")

    assert "larger than 10,000,000 bytes" in said


CHANGES: dict[str, tuple[str, Change]] = {
    "unknown field": ("messages.jsonl", lambda line: line.update(evil=1)),
    "missing field": ("messages.jsonl", lambda line: line.pop("role")),
    "unknown role": ("messages.jsonl", lambda line: line.update(role="root")),
    "no time": ("messages.jsonl", lambda line: line.update(created_at="soon")),
    "no id": ("messages.jsonl", lambda line: line.update(id="x")),
    "negative": ("messages.jsonl", lambda line: line.update(round=-1)),
    "no text": ("messages.jsonl", lambda line: line.update(content=["x"])),
    "no object": ("messages.jsonl", lambda line: line.update(metadata=[])),
    "too long": ("messages.jsonl", lambda line: line.update(name="x" * 256)),
    "long user": ("sessions.jsonl", lambda line: line.update(user="x" * 151)),
    "nobody's": ("sessions.jsonl", lambda line: line.update(user=None)),
    "no thread": ("sessions.jsonl", lambda line: line.update(thread_id="../x")),
    "no flag": ("sessions.jsonl", lambda line: line.update(pinned="maybe")),
    "no price": ("llm_calls.jsonl", lambda line: line.update(cost="NaN")),
    "no number": ("runs.jsonl", lambda line: line.update(temperature="warm")),
    "other session": (
        "runs.jsonl",
        lambda line: line.update(session=str(uuid.uuid4())),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_line_that_is_not_as_it_should_be_is_refused(
    call: Call, archive: Path, name: str
) -> None:
    ChatSession.objects.all().delete()
    part, change = CHANGES[name]

    said = call("import_project", forged(archive, part, change))

    assert said.startswith("ERROR")
    assert "Nothing was imported" in said
    assert not ChatSession.objects.exists()


def test_rows_can_not_be_forged_into_anothers_session(
    call: Call, archive: Path, bob: User, lab: Project
) -> None:
    ChatSession.objects.all().delete()
    theirs = make_run(make_session(bob, lab), text="Bob's")
    message = theirs.messages.get()
    forgeries: list[tuple[str, Change]] = [
        ("messages.jsonl", lambda line: line.update(run_id=str(theirs.pk))),
        ("messages.jsonl", lambda line: line.update(parent_id=str(message.pk))),
        ("messages.jsonl", lambda line: line.update(parent_id=str(uuid.uuid4()))),
        ("messages.jsonl", lambda line: line.update(id=str(message.pk))),
        ("runs.jsonl", lambda line: line.update(id=str(theirs.pk))),
        ("tool_calls.jsonl", lambda line: line.update(run_id=str(theirs.pk))),
        ("tool_calls.jsonl", lambda line: line.update(message_id=str(message.pk))),
        ("tool_calls.jsonl", lambda line: line.update(result_id=str(message.pk))),
        ("approvals.jsonl", lambda line: line.update(run_id=str(theirs.pk))),
        ("llm_calls.jsonl", lambda line: line.update(run_id=str(theirs.pk))),
    ]

    for part, change in forgeries:
        said = call("import_project", forged(archive, part, change))

        assert "1 failed" in said, part
        assert ChatSession.objects.get().user == bob
        assert Message.objects.get() == message
        assert not ToolCall.objects.exists()
        assert not Approval.objects.exists()


def test_an_unreadable_character_travels(
    call: Call, archive: Path, filled: ChatSession
) -> None:
    ChatSession.objects.all().delete()
    odd = forged(
        archive, "messages.jsonl", lambda line: line.update(content="a\0b\ud800c")
    )

    call("import_project", odd)

    assert Message.objects.get(round=1, sequence=1).content.startswith("a\ufffdb")
