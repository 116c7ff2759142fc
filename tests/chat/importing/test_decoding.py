"""A crafted file runs nothing, and costs nobody else's conversation."""

import json
import os
import pickle
import uuid
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from chat.importing.decoding import Named, decode
from chat.importing.errors import ThreadRefused
from chat.importing.merging import merge
from chat.importing.plain import moment, storable, storable_text
from chat.importing.turns import turn_of
from chat.models import ChatSession, Message
from tests.chat.importing.conftest import Import
from tests.chat.importing.samples import Sample

HARMLESS = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(-(2**63), 2**63),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def extension(code: int, *parts: Any) -> bytes:
    inner = ormsgpack.packb(list(parts))
    state = {"channel_values": {"messages": [ormsgpack.Ext(code, inner)]}}
    return ormsgpack.packb(state)


def attacks(marker: Path) -> dict[str, tuple[str, bytes]]:
    command = f"touch {marker}"
    constructor = {
        "lc": 2,
        "type": "constructor",
        "id": ["os", "system"],
        "args": [command],
    }
    return {
        "single": ("msgpack", extension(0, "os", "system", command)),
        "positional": ("msgpack", extension(1, "os", "system", [command])),
        "keyword": ("msgpack", extension(2, "os", "system", {"command": command})),
        "method": (
            "msgpack",
            extension(3, "pathlib", "Path", str(marker), "touch"),
        ),
        "pydantic": (
            "msgpack",
            extension(5, "subprocess", "Popen", {"args": ["touch", str(marker)]}, ""),
        ),
        "json": ("json", json.dumps({"channel_values": constructor}).encode()),
        "pickle": ("pickle", pickle.dumps(_Touch(command))),
        "array": ("msgpack", extension(6, "|O", [1], "C", b"12345678")),
    }


class _Touch:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.mark.parametrize("name", [*attacks(Path("/"))])
@pytest.mark.database
def test_a_crafted_thread_runs_nothing_and_the_others_arrive(
    bring: Import, sample: Sample, tmp_path: Path, name: str
) -> None:
    marker = tmp_path / "ran"
    kind, stored = attacks(marker)[name]
    good = sample.thread(HumanMessage("hello"), AIMessage("hi"))
    bad = sample.session()
    sample.raw_checkpoint(bad, kind, stored)
    after = sample.thread(HumanMessage("later"))

    said = bring(sample.path)

    assert not marker.exists()
    found = set(ChatSession.objects.values_list("thread_id", flat=True))
    # A method of a harmless type is data like any other: it stays uncalled.
    assert found - {bad} == {good, after}
    if name != "method":
        assert bad not in found
        assert "ERROR Not everything was imported" in said
        row = next(line for line in said.splitlines() if line.startswith(bad))
        assert "failed" in row


def test_a_refusal_names_the_object(bring: Import, sample: Sample) -> None:
    thread_id = sample.session()
    sample.raw_checkpoint(thread_id, "msgpack", extension(0, "os", "system", "true"))

    assert "It holds an object of os.system, which is never made." in bring(sample.path)


def test_a_placeholder_for_a_secret_is_not_filled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANARY", "canary-of-the-environment")
    envelope = {"lc": 1, "type": "secret", "id": ["CANARY"]}

    assert decode("json", json.dumps([envelope]).encode()) == [None]


def test_endless_nesting_is_refused() -> None:
    stored = ormsgpack.packb(1)
    for _ in range(60):
        stored = ormsgpack.packb(ormsgpack.Ext(7, stored))

    with pytest.raises(ThreadRefused):
        decode("msgpack", stored)
    with pytest.raises(ThreadRefused):
        decode("json", b"[" * 100_000)


@pytest.mark.parametrize("stored", [b"", b"\xc1", b"\x81\xa1v", b"not json"])
@pytest.mark.parametrize("kind", ["msgpack", "json"])
@pytest.mark.database
def test_a_damaged_checkpoint_costs_one_thread(
    bring: Import, sample: Sample, kind: str, stored: bytes
) -> None:
    sample.raw_checkpoint(str(uuid.uuid4()), kind, stored)
    whole = sample.thread(HumanMessage("hello"))

    said = bring(sample.path)

    assert "damaged" in said
    assert list(ChatSession.objects.values_list("thread_id", flat=True)) == [whole]


@pytest.mark.parametrize(
    "messages",
    [
        "text",
        [None, 3, "x", ["user", "hi"], {}, {"type": "human"}, {"role": "user"}],
        [{"type": "ai", "content": {"a": 1}, "tool_calls": [1, {}, {"args": 3}]}],
        [{"type": "tool", "tool_call_id": 3, "content": None, "id": ["x"]}],
        [{"type": "ai", "id": "\0", "metadata": 3, "usage_metadata": [1]}],
    ],
)
@pytest.mark.database
def test_odd_messages_break_nothing(
    bring: Import, sample: Sample, messages: Any
) -> None:
    thread_id = sample.session()
    sample.raw_checkpoint(
        thread_id,
        "msgpack",
        ormsgpack.packb({"channel_values": {"messages": messages}}),
    )

    said = bring(sample.path)

    assert "1 imported" in said
    assert all(isinstance(row.content, str) for row in Message.objects.all())


def test_ids_that_are_no_uuid_are_refused(bring: Import, sample: Sample) -> None:
    sample.thread(HumanMessage("hello"), thread_id="x" * 400)

    assert "Its id is no UUID" in bring(sample.path)
    assert not ChatSession.objects.exists()


def test_files_that_are_something_else_are_refused(
    bring: Import, tmp_path: Path
) -> None:
    path = tmp_path / "file.db"

    assert "There is no file" in bring(path)
    path.write_bytes(b"not a database at all, but long enough" * 100)
    assert "no readable SQLite database" in bring(path)
    path.write_bytes(b"")
    assert "neither chat_sessions nor checkpoints" in bring(path)


def test_a_view_instead_of_a_table_is_refused(bring: Import, sample: Sample) -> None:
    sample.run("DROP TABLE checkpoints", [])
    sample.run("DROP TABLE chat_sessions", [])
    sample.run("CREATE VIEW chat_sessions AS SELECT 'x' AS thread_id", [])

    assert "neither chat_sessions nor checkpoints" in bring(sample.path)


def test_a_damaged_file_is_refused_or_costs_single_threads(
    bring: Import, sample: Sample
) -> None:
    for number in range(40):
        sample.thread(HumanMessage(f"{number} " + "x" * 3000))
    stored = bytearray(sample.path.read_bytes())
    stored[len(stored) // 2 : len(stored) // 2 + 4096] = b"\xff" * 4096
    sample.path.write_bytes(stored)

    assert "ERROR" in bring(sample.path)


@given(st.binary(max_size=200), st.sampled_from(["msgpack", "json", None]))
def test_any_bytes_are_read_or_refused(stored: bytes, kind: str | None) -> None:
    try:
        found = decode(kind, stored)
    except ThreadRefused:
        return
    for message in merge(found, []):
        turn_of(0, message)


@given(HARMLESS)
def test_any_value_can_be_stored(value: Any) -> None:
    text = json.dumps(storable(value), allow_nan=False)

    assert "\\u0000" not in text
    text.encode()


@given(HARMLESS, st.sampled_from(["human", "ai", "tool"]))
def test_any_content_becomes_text(content: Any, kind: str) -> None:
    turn = turn_of(0, Named("m", "n", {"type": kind, "content": content}))

    assert turn is not None
    assert "\0" not in turn.content
    turn.content.encode()


@given(st.text())
def test_whole_characters_are_kept(text: str) -> None:
    assert storable_text(text) == text.replace("\0", "\ufffd")


@pytest.mark.parametrize(
    "value", ["", "yesterday", True, None, 1e300, "0001-01-01T00:00:00+14:00", []]
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert moment(value) is None
