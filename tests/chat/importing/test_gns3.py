"""Conversations of GNS3's Copilot arrive whole, once, and where they belong."""

import hashlib
import json
import shutil
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from chat.agent.window import as_messages
from chat.history import newest_messages, openai_message
from chat.models import ChatSession, Message, Run, ToolCall
from projects.models import Project, Server
from tests.chat.importing.conftest import Import
from tests.chat.importing.samples import (
    REAL,
    REAL_THREAD,
    REAL_USER,
    SOURCE_USER,
    Sample,
)

pytestmark = pytest.mark.database


def asks(name: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def rows() -> str:
    models = (ChatSession, Run, Message, ToolCall)
    return "\n".join(
        serializers.serialize("json", model.objects.order_by("pk")) for model in models
    )


def history(thread_id: str) -> list[dict[str, Any]]:
    session = ChatSession.objects.get(thread_id=thread_id)
    return [openai_message(row) for row in newest_messages(session, limit=500)]


def roles(thread_id: str) -> list[str]:
    return [turn["role"] for turn in history(thread_id)]


# --- The file that GNS3 3.1.0a7 made --------------------------------------------


def test_a_real_file_arrives_with_its_messages_calls_and_counters(
    bring: Import, alice: User
) -> None:
    said = bring(REAL)

    session = ChatSession.objects.get(thread_id=REAL_THREAD)
    assert "1 imported" in said
    assert "ERROR" not in said
    assert (session.user, session.message_count, session.llm_calls_count) == (
        *(alice, 3),
        2,
    )
    assert (session.input_tokens, session.output_tokens, session.total_tokens) == (
        *(20, 10),
        30,
    )
    assert session.metadata["copilot_mode"] == "lab_automation_assistant"
    assert session.created_at.isoformat() == "2026-11-30T12:12:13.862993+00:00"
    turns = history(REAL_THREAD)
    assert [turn["role"] for turn in turns] == [
        *("user", "assistant", "tool", "tool"),
        "assistant",
    ]
    assert turns[0]["id"] == "1f70caf5-fe80-4433-9514-64a34360f3f6"
    assert turns[-1]["content"] == "Hello world"
    assert json.loads(turns[1]["tool_calls"][0]["function"]["arguments"]) == {
        "tool_input": ""
    }
    calls = ToolCall.objects.order_by("position")
    assert [(call.call_id, call.status) for call in calls] == [
        ("call_0", "succeeded"),
        ("call_1", "failed"),
    ]
    assert all(call.result and call.result.content for call in calls)


def test_a_real_file_without_a_title_is_named_after_its_question(
    bring: Import,
) -> None:
    bring(REAL)

    assert ChatSession.objects.get().title == "show me the templates and PC"


def test_a_second_import_changes_nothing(bring: Import) -> None:
    bring(REAL)
    before = rows()

    said = bring(REAL)

    assert "1 unchanged" in said
    assert rows() == before


def test_a_dry_run_reports_and_keeps_nothing(bring: Import) -> None:
    said = bring(REAL, "--dry-run")

    assert "1 imported. Dry run" in said
    assert not ChatSession.objects.exists()


def test_the_file_is_not_written_to(bring: Import, tmp_path: Path) -> None:
    folder = tmp_path / "read only"
    folder.mkdir()
    path = folder / "a#b?c%20.db"
    shutil.copy(REAL, path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.chmod(0o400)
    folder.chmod(0o500)

    said = bring(path)

    folder.chmod(0o700)
    assert "1 imported" in said
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [one.name for one in folder.iterdir()] == [path.name]


def test_what_is_still_in_the_write_ahead_log_is_imported(
    bring: Import, sample: Sample
) -> None:
    with closing(sqlite3.connect(sample.path)) as open_elsewhere:
        open_elsewhere.execute("PRAGMA journal_mode=WAL")
        open_elsewhere.execute("SELECT count(*) FROM writes").fetchone()
        thread_id = sample.thread(HumanMessage("hello"), AIMessage("hi"))
        log = sample.path.with_name(sample.path.name + "-wal")
        before = log.read_bytes(), sample.path.read_bytes()

        bring(sample.path)

        assert (log.read_bytes(), sample.path.read_bytes()) == before
        assert before[0]
    assert roles(thread_id) == ["user", "assistant"]


# --- Versions of the file ------------------------------------------------------


@pytest.mark.parametrize("kind", ["json", "msgpack"])
def test_both_serialisations_give_the_same_rows(
    bring: Import, sample: Sample, kind: str
) -> None:
    thread_id = sample.session()
    sample.checkpoint(
        thread_id,
        [
            HumanMessage("ping?", id=str(uuid.uuid4())),
            AIMessage("", tool_calls=[asks("run", "c1", device="PC1")]),
            ToolMessage("84 bytes from 10.0.0.2", tool_call_id="c1"),
            AIMessage("It answers."),
        ],
        kind=kind,
    )

    said = bring(sample.path)

    assert "1 imported" in said
    assert roles(thread_id) == ["user", "assistant", "tool", "assistant"]
    assert ToolCall.objects.get().arguments == '{"device": "PC1"}'


def test_a_file_from_before_pinning_is_imported(bring: Import, tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.db", has_pinned=False)
    sample.thread(HumanMessage("hello"), AIMessage("hi"))

    assert "1 imported" in bring(sample.path)
    assert not ChatSession.objects.get().pinned


def test_pin_title_times_and_json_columns_arrive(bring: Import, sample: Sample) -> None:
    sample.thread(
        HumanMessage("hello"),
        title="Réseau",
        pinned=1,
        metadata='{"copilot_mode": "teaching_assistant"}',
        stats='{"tools": {"ping": 3}, "broken": NaN}',
        created_at="2026-01-02 03:04:05",
        message_count=7,
        total_tokens=-5,
    )

    bring(sample.path)

    session = ChatSession.objects.get()
    assert session.pinned
    assert session.is_title_final
    assert session.title == "Réseau"
    assert session.metadata["copilot_mode"] == "teaching_assistant"
    assert session.stats == {"tools": {"ping": 3}, "broken": None}
    assert session.created_at.isoformat() == "2026-01-02T03:04:05+00:00"
    assert (session.message_count, session.total_tokens) == (7, 0)


def test_only_the_newest_checkpoint_of_the_root_namespace_counts(
    bring: Import, sample: Sample
) -> None:
    thread_id = sample.session()
    sample.checkpoint(thread_id, [HumanMessage("one")])
    sample.checkpoint(thread_id, [HumanMessage("one"), AIMessage("two")])
    sample.raw_checkpoint(thread_id, "msgpack", b"\x80", namespace="sub:graph")

    bring(sample.path)

    assert roles(thread_id) == ["user", "assistant"]


def test_what_was_written_after_the_newest_checkpoint_is_imported(
    bring: Import, sample: Sample
) -> None:
    thread_id = sample.session()
    old = sample.checkpoint(thread_id, [HumanMessage("one", id="a")])
    sample.write(thread_id, old, [AIMessage("old, in the next checkpoint", id="b")])
    new = sample.checkpoint(
        thread_id, [HumanMessage("one", id="a"), AIMessage("two", id="b")]
    )
    sample.write(thread_id, new, [AIMessage("two, whole", id="b")])
    sample.write(thread_id, new, [HumanMessage("three", id="c")])

    bring(sample.path)

    assert [turn["content"] for turn in history(thread_id)] == [
        *("one", "two, whole"),
        "three",
    ]


def test_a_session_without_checkpoint_and_one_without_row_both_arrive(
    bring: Import, sample: Sample
) -> None:
    empty, rowless = sample.session(), str(uuid.uuid4())
    sample.checkpoint(rowless, [HumanMessage("Why is R1 down?"), AIMessage("Off.")])

    said = bring(sample.path)

    assert "2 imported" in said
    assert history(empty) == []
    session = ChatSession.objects.get(thread_id=rowless)
    assert (session.title, session.message_count) == ("Why is R1 down?", 2)


# --- What history demands ----------------------------------------------------------


def test_a_user_message_opens_a_round(bring: Import, sample: Sample) -> None:
    sample.thread(
        SystemMessage("You are an assistant."),
        HumanMessage("one"),
        AIMessage("1", usage_metadata=usage(3, 4)),
        HumanMessage("two"),
        HumanMessage("three"),
        AIMessage("3"),
    )

    said = bring(sample.path)

    runs = Run.objects.order_by("round")
    assert [run.status for run in runs] == ["succeeded", "stopped", "succeeded"]
    assert [run.messages.count() for run in runs] == [2, 1, 2]
    assert [run.input_tokens for run in runs] == [3, None, None]
    assert "1 system or unknown messages left out" in said


def usage(read: int, written: int) -> Any:
    return {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
    }


def test_structured_content_becomes_text(bring: Import, sample: Sample) -> None:
    thread_id = sample.thread(
        HumanMessage([{"type": "text", "text": "Sé"}, "e this"]),
        AIMessage(
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"}],
            tool_calls=[asks("look", "c1")],
        ),
        ToolMessage([{"ünit": 1}], tool_call_id="c1"),
        AIMessage("nul\0 and half \ud800 of it"),
    )

    bring(sample.path)

    turns = history(thread_id)
    assert [turn["content"] for turn in turns[:2]] == ["Sée this", "Yes"]
    assert turns[1]["metadata"]["reasoning"] == "hm"
    assert turns[2]["content"] == '[\n  {\n    "ünit": 1\n  }\n]'
    assert turns[3]["content"].startswith("nul\ufffd and half ")


def test_calls_without_result_are_closed_and_results_without_call_left_out(
    bring: Import, sample: Sample
) -> None:
    thread_id = sample.thread(
        HumanMessage("go"),
        AIMessage("", tool_calls=[asks("a", "c1"), asks("b", "c2"), asks("c", "c2")]),
        ToolMessage("second", tool_call_id="c2"),
        ToolMessage("nobody asked", tool_call_id="c9"),
        HumanMessage("and?"),
        ToolMessage("too late", tool_call_id="c1"),
        AIMessage("Done."),
    )

    said = bring(sample.path)

    assert "2 calls without a result closed" in said
    assert "2 results without a call left out" in said
    turns = history(thread_id)
    ids = [call["id"] for call in turns[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert [turn["tool_call_id"] for turn in turns[2:5]] == ids
    assert turns[3]["content"] == "second"
    statuses = ToolCall.objects.order_by("position").values_list("status", flat=True)
    assert list(statuses) == ["cancelled", "succeeded", "cancelled"]


def test_an_imported_conversation_can_be_sent_to_a_model(
    bring: Import, sample: Sample
) -> None:
    thread_id = sample.thread(
        HumanMessage("go"), AIMessage("", tool_calls=[asks("a", "c1", x=1)])
    )
    bring(sample.path)
    session = ChatSession.objects.get(thread_id=thread_id)

    messages = as_messages(newest_messages(session, limit=100))

    assert [message.type for message in messages] == ["human", "ai", "tool"]


def test_a_call_that_did_not_parse_keeps_its_text(
    bring: Import, sample: Sample
) -> None:
    sample.thread(
        HumanMessage("go"),
        AIMessage(
            "",
            invalid_tool_calls=[
                {"name": "a", "args": '{"x": ', "id": "c1", "error": "no JSON"}
            ],
        ),
    )

    bring(sample.path)

    assert ToolCall.objects.get().arguments == '{"x": '


# --- Growing, and going apart --------------------------------------------------------


def test_what_gns3_added_since_is_added_here(bring: Import, sample: Sample) -> None:
    first = [HumanMessage("one"), AIMessage("", tool_calls=[asks("a", "c1")])]
    thread_id = sample.thread(*first[:1], message_count=1)
    bring(sample.path)
    sample.checkpoint(
        thread_id, [*first, ToolMessage("r", tool_call_id="c1"), AIMessage("end")]
    )
    sample.run("UPDATE chat_sessions SET message_count=4, title='Other'", [])

    said = bring(sample.path)

    session = ChatSession.objects.get()
    assert "1 extended" in said
    assert (session.message_count, session.title) == (4, "A title")
    assert roles(thread_id) == ["user", "assistant", "tool", "assistant"]
    run = Run.objects.get()
    assert (run.status, run.message_count) == ("succeeded", 4)
    assert "1 unchanged" in bring(sample.path)


def test_a_session_that_went_on_here_is_left_alone(
    bring: Import, sample: Sample
) -> None:
    thread_id = sample.thread(HumanMessage("one"), AIMessage("1"))
    bring(sample.path)
    session = ChatSession.objects.get()
    Message.objects.create(
        session=session, round=2, sequence=1, role="user", content="here"
    )
    assert "1 unchanged" in bring(sample.path)
    sample.checkpoint(
        thread_id, [HumanMessage("one"), AIMessage("1"), HumanMessage("there")]
    )

    said = bring(sample.path)

    assert "It went on differently here" in said
    assert [turn["content"] for turn in history(thread_id)] == ["one", "1", "here"]


# --- Whose they are --------------------------------------------------------------


def test_users_of_the_source_are_mapped_and_others_skipped(
    bring: Import, sample: Sample, alice: User, bob: User
) -> None:
    mine = sample.thread(HumanMessage("a"), user_id="u-1")
    sample.thread(HumanMessage("b"), user_id="u-2")

    said = bring(sample.path, "--map=u-1=bob", user="")

    assert "Nobody here is mapped to user u-2" in said
    assert "ERROR Not everything was imported" in said
    assert "bob has no role in Campus" in said
    session = ChatSession.objects.get()
    assert (session.thread_id, session.user) == (mine, bob)


def test_a_thread_without_row_belongs_to_the_user_of_its_checkpoint(
    bring: Import, sample: Sample, alice: User
) -> None:
    sample.checkpoint(str(uuid.uuid4()), [HumanMessage("a")])

    bring(sample.path, f"--map={SOURCE_USER}=alice", user="")

    assert ChatSession.objects.get().user == alice


def test_a_thread_that_is_anothers_here_is_refused(
    bring: Import, alice: User, bob: User, lab: Project
) -> None:
    ChatSession.objects.create(thread_id=REAL_THREAD, user=bob, project=lab)

    said = bring(REAL, f"--map={REAL_USER}=alice")

    assert "belongs to another user or project" in said
    assert "ERROR" in said
    assert not Message.objects.exists()


def test_messages_of_another_session_are_not_taken_over(
    bring: Import, sample: Sample
) -> None:
    shared = str(uuid.uuid4())
    sample.thread(HumanMessage("mine", id=shared))
    sample.thread(HumanMessage("forged", id=shared))
    whole = sample.thread(HumanMessage("fine"))

    said = bring(sample.path)

    assert "Messages of these ids belong to another session" in said
    assert Message.objects.get(pk=shared).content == "mine"
    assert ChatSession.objects.count() == 2
    assert roles(whole) == ["user"]


def test_unclear_targets_are_refused(bring: Import, lab: Project, alice: User) -> None:
    other = Server.objects.create(name="other", url="http://127.0.0.1:10")
    Project.objects.create(server=other, project_id=lab.project_id, name="Twin")

    assert "choose with --server" in bring(REAL)
    assert "There is no server nowhere" in bring(REAL, "--server=nowhere")
    assert "There is no user nobody" in bring(REAL, "--server=other", user="nobody")
    assert "not of the form" in bring(REAL, "--server=other", "--map=u-1")
    assert "Say whose" in bring(REAL, user="")
    assert "1 imported" in bring(REAL, "--server=other")
