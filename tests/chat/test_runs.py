import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import connections

from chat import ending, runs
from chat.deletion import delete_session
from chat.events.address import user_group
from chat.models import ChatSession, LLMCall, Message, Run, ToolCall
from chat.models.run import EXECUTING, Status
from chat.runs import (
    MessageEmpty,
    MessageTooLong,
    ProjectNotOpened,
    RunActive,
    start_run,
    stop_run,
    stop_session,
)
from copilot_site.lib.errors import NotFound
from llmconfig.selection import LLMNotConfigured
from projects.models import Membership, Project, Role, Server
from tests.chat.support import claimed, db, kinds, logged, make_run
from tests.conftest import OTHER_LAB_ID, Valkey

pytestmark = [pytest.mark.database, pytest.mark.needs("valkey")]


@pytest.fixture(autouse=True)
def _feed(valkey: Valkey) -> None:
    """Starting a run announces it."""


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of runs that were handed to the workers."""
    ids: list[str] = []

    def publish(run: Run) -> bool:
        ids.append(str(run.pk))
        return True

    monkeypatch.setattr(runs, "publish", publish)
    monkeypatch.setattr(ending, "publish", publish)
    return ids


def ask(lab: Project, alice: User, **fields: Any) -> Run:
    fields = {"message": "Why?", **fields}
    return start_run(user=alice, project=lab, **fields).run


def test_a_first_message_makes_session_run_and_message(
    lab: Project, alice: User, published: list[str]
) -> None:
    run = ask(lab, alice, temperature=0.5, max_tokens=7)

    assert (run.status, run.round, run.attempt) == (Status.QUEUED, 1, 0)
    assert (run.temperature, run.max_tokens) == (0.5, 7)
    assert (run.session.user, run.session.project) == (alice, lab)
    message = run.messages.get()
    assert (message.role, message.content) == ("user", "Why?")
    assert published == [str(run.pk)]


def test_an_unknown_session_id_makes_that_session(lab: Project, alice: User) -> None:
    run = ask(lab, alice, session_id=OTHER_LAB_ID)

    assert run.session.thread_id == OTHER_LAB_ID


def test_the_next_message_is_the_next_round_with_a_parent(
    lab: Project, alice: User, session: ChatSession
) -> None:
    make_run(session, status=Status.SUCCEEDED)

    run = ask(lab, alice, session_id=session.thread_id)

    assert run.round == 2
    assert run.messages.get().parent == session.messages.get(round=1)


def test_a_second_message_is_refused_while_one_is_answered(
    lab: Project, alice: User, session: ChatSession
) -> None:
    active = make_run(session, status=Status.RUNNING)

    with pytest.raises(RunActive) as caught:
        ask(lab, alice, session_id=session.thread_id)

    assert (caught.value.status, caught.value.run_id) == (409, str(active.pk))
    assert session.messages.count() == 1


def test_an_enqueued_message_waits_in_line(
    lab: Project, alice: User, session: ChatSession, published: list[str]
) -> None:
    active = make_run(session, status=Status.RUNNING)

    waiting = [
        ask(lab, alice, session_id=session.thread_id, multitask_strategy="enqueue")
        for _ in range(2)
    ]

    assert [run.status for run in waiting] == [Status.PENDING] * 2
    assert [run.round for run in waiting] == [2, 3]
    assert published == []
    active.refresh_from_db()
    assert active.status == Status.RUNNING


def test_waiting_messages_are_promoted_in_their_order(
    lab: Project, alice: User, session: ChatSession, published: list[str]
) -> None:
    active = claimed(make_run(session))
    second, third = (
        ask(lab, alice, session_id=session.thread_id, multitask_strategy="enqueue")
        for _ in range(2)
    )

    assert ending.end_run(active, EXECUTING, Status.SUCCEEDED, last_seq=5)

    second.refresh_from_db()
    third.refresh_from_db()
    assert (second.status, third.status) == (Status.QUEUED, Status.PENDING)
    assert published == [str(second.pk)]


def test_an_interrupting_message_stops_the_active_run_and_waits(
    lab: Project, alice: User, session: ChatSession
) -> None:
    active = claimed(make_run(session))

    run = ask(lab, alice, session_id=session.thread_id, multitask_strategy="interrupt")

    active.refresh_from_db()
    assert (active.status, active.reason) == (Status.STOPPING, "interrupted")
    assert run.status == Status.PENDING


def test_an_interrupting_message_takes_a_queued_runs_place(
    lab: Project, alice: User, session: ChatSession, published: list[str]
) -> None:
    queued = make_run(session)

    run = ask(lab, alice, session_id=session.thread_id, multitask_strategy="interrupt")

    queued.refresh_from_db()
    run.refresh_from_db()
    assert queued.status == Status.STOPPED
    assert run.status == Status.QUEUED
    assert published == [str(run.pk)]


def test_a_repeated_key_makes_one_message(
    lab: Project, alice: User, published: list[str]
) -> None:
    first = start_run(user=alice, project=lab, message="Why?", request_key="k")
    again = start_run(user=alice, project=lab, message="Why?", request_key="k")

    assert (first.is_repeated, again.is_repeated) == (False, True)
    assert first.run == again.run
    assert Message.objects.count() == 1
    assert len(published) == 1


def test_a_key_counts_for_its_user_and_project_only(
    lab: Project, alice: User, bob: User, server: Server
) -> None:
    Membership.objects.create(project=lab, user=bob, role=Role.MEMBER)
    other = Project.objects.create(
        server=server, project_id=OTHER_LAB_ID, name="Other", status="opened"
    )

    made = {
        start_run(user=user, project=project, message="?", request_key="k").run.pk
        for user, project in [(alice, lab), (bob, lab), (alice, other)]
    }

    assert len(made) == 3


def test_anothers_session_does_not_exist(
    lab: Project, bob: User, session: ChatSession
) -> None:
    Membership.objects.create(project=lab, user=bob, role=Role.MEMBER)

    with pytest.raises(NotFound):
        ask(lab, bob, session_id=session.thread_id)

    assert not Run.objects.exists()


def test_a_session_of_another_project_does_not_exist(
    alice: User, server: Server, session: ChatSession
) -> None:
    other = Project.objects.create(
        server=server, project_id=OTHER_LAB_ID, name="Other", status="opened"
    )

    with pytest.raises(NotFound):
        ask(other, alice, session_id=session.thread_id)


def test_a_closed_project_is_refused_without_rows(lab: Project, alice: User) -> None:
    lab.status = Project.Status.CLOSED

    with pytest.raises(ProjectNotOpened) as caught:
        ask(lab, alice)

    assert (caught.value.status, caught.value.code) == (403, "project_not_opened")
    assert not ChatSession.objects.exists()
    assert not Message.objects.exists()


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
def test_an_empty_message_is_refused(lab: Project, alice: User, text: str) -> None:
    with pytest.raises(MessageEmpty):
        ask(lab, alice, message=text)

    assert not ChatSession.objects.exists()


def test_a_message_may_have_the_stated_length_and_no_more(
    lab: Project, alice: User, settings: Any
) -> None:
    settings.MESSAGE_LENGTH = 10

    assert ask(lab, alice, message="é" * 10)
    with pytest.raises(MessageTooLong):
        ask(lab, alice, message="é" * 11)


def test_without_any_model_nothing_is_stored(
    lab: Project, alice: User, settings: Any
) -> None:
    settings.OFFLINE_MODEL = False

    with pytest.raises(LLMNotConfigured):
        ask(lab, alice)

    assert not ChatSession.objects.exists()


def at_once(count: int, action: Any) -> list[Any]:
    barrier = threading.Barrier(count)

    def one(_: int) -> Any:
        barrier.wait(10)
        try:
            return action()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.usefixtures("published")
def test_of_two_messages_at_once_one_is_refused(
    lab: Project, alice: User, session: ChatSession
) -> None:
    results = at_once(2, lambda: ask(lab, alice, session_id=session.thread_id))

    assert sorted(type(result).__name__ for result in results) == ["Run", "RunActive"]
    assert session.messages.count() == 1


@pytest.mark.usefixtures("published")
def test_two_first_messages_of_one_new_session_at_once_are_one_run(
    lab: Project, alice: User
) -> None:
    results = at_once(2, lambda: ask(lab, alice, session_id=OTHER_LAB_ID))

    assert sorted(type(result).__name__ for result in results) == ["Run", "RunActive"]
    assert ChatSession.objects.count() == 1


@pytest.mark.usefixtures("published")
def test_one_request_repeated_at_once_is_one_message(lab: Project, alice: User) -> None:
    results = at_once(3, lambda: ask(lab, alice, request_key="same"))

    assert len({result.pk for result in results}) == 1
    assert Message.objects.count() == 1


@pytest.mark.usefixtures("published")
def test_enqueued_at_once_all_wait_in_different_rounds(
    lab: Project, alice: User, session: ChatSession
) -> None:
    make_run(session, status=Status.RUNNING)

    results = at_once(
        3,
        lambda: ask(
            lab, alice, session_id=session.thread_id, multitask_strategy="enqueue"
        ),
    )

    assert sorted(run.round for run in results) == [2, 3, 4]


def test_a_message_that_cannot_be_published_waits_as_a_row(
    lab: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_reach(*_: Any, **__: Any) -> None:
        raise OSError("no broker")

    monkeypatch.setattr("chat.queue.app.send_task", out_of_reach)

    started = start_run(user=alice, project=lab, message="Why?")

    assert not started.is_published
    started.run.refresh_from_db()
    assert started.run.status == Status.QUEUED


def test_a_broker_that_hangs_costs_a_second(
    lab: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr("chat.queue._PUBLISH_SECONDS", 0.05)
    monkeypatch.setattr("chat.queue.app.send_task", lambda *_, **__: release.wait(10))

    started = start_run(user=alice, project=lab, message="Why?")
    release.set()

    assert not started.is_published


@pytest.mark.parametrize("status", [Status.PENDING, Status.QUEUED])
def test_a_run_that_nobody_executes_stops_at_once(
    session: ChatSession, status: Status
) -> None:
    run = make_run(session, status=status)

    assert stop_run(run)

    run.refresh_from_db()
    assert (run.status, run.reason) == (Status.STOPPED, "user")
    assert kinds(logged(run)) == ["stopped", "done"]
    assert run.saved_seq == 2


def test_a_running_run_is_asked_to_stop(session: ChatSession) -> None:
    run = claimed(make_run(session))

    assert stop_run(run)

    run.refresh_from_db()
    assert run.status == Status.STOPPING
    assert run.worker is not None


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.FAILED, Status.STOPPED])
def test_a_run_that_is_over_cannot_be_stopped(
    session: ChatSession, status: Status
) -> None:
    run = make_run(session, status=status)

    assert not stop_run(run)
    run.refresh_from_db()
    assert run.status == status


def test_a_run_claimed_meanwhile_is_asked_to_stop(session: ChatSession) -> None:
    seen = make_run(session)
    claimed(Run.objects.get(pk=seen.pk))

    assert stop_run(seen)

    seen.refresh_from_db()
    assert seen.status == Status.STOPPING


def test_stopping_the_active_run_promotes_the_next(
    session: ChatSession, published: list[str]
) -> None:
    make_run(session)
    waiting = make_run(session, status=Status.PENDING)

    assert stop_session(session)

    waiting.refresh_from_db()
    assert waiting.status == Status.QUEUED
    assert published == [str(waiting.pk)]


def test_a_session_without_an_active_run_has_nothing_to_stop(
    session: ChatSession,
) -> None:
    make_run(session, status=Status.SUCCEEDED)

    assert not stop_session(session)


def test_a_stop_without_redis_still_ends_the_row(
    session: ChatSession, valkey: Valkey
) -> None:
    run = make_run(session)
    valkey.kill()
    try:
        assert stop_run(run)
    finally:
        valkey.start()

    run.refresh_from_db()
    assert run.status == Status.STOPPED


def test_the_end_counts_in_the_database(session: ChatSession) -> None:
    ChatSession.objects.filter(pk=session.pk).update(
        message_count=100, llm_calls_count=10, input_tokens=1000, total_tokens=1000
    )
    run = claimed(make_run(session))
    for read, written in [(10, 5), (20, None)]:
        LLMCall.objects.create(
            run=run,
            session=session,
            provider="p",
            model="m",
            input_tokens=read,
            output_tokens=written,
        )

    ending.end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=3)

    session.refresh_from_db()
    assert session.message_count == 101
    assert session.llm_calls_count == 12
    assert session.input_tokens == 1030
    assert session.output_tokens == 5
    assert session.total_tokens == 1035
    run.refresh_from_db()
    assert (run.input_tokens, run.output_tokens) == (30, 5)


def test_the_end_is_written_once(session: ChatSession) -> None:
    run = claimed(make_run(session))
    closing = ending.end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=3)

    assert [event.type for event in closing or []] == ["done"]
    assert ending.end_run(run, EXECUTING, Status.FAILED, last_seq=3) is None
    session.refresh_from_db()
    assert session.message_count == 1


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (ToolCall.Status.PENDING, "Cancelled before it ran."),
        (
            ToolCall.Status.RUNNING,
            "Cancelled while it ran: what it did so far is unknown.",
        ),
    ],
)
def test_the_end_leaves_no_call_without_a_result(
    session: ChatSession, status: ToolCall.Status, text: str
) -> None:
    run = claimed(make_run(session))
    said = Message.objects.create(
        session=session, run=run, round=1, sequence=2, role="assistant"
    )
    call = ToolCall.objects.create(
        run=run, message=said, call_id="c", name="run_commands", status=status
    )

    ending.end_run(run, EXECUTING, Status.STOPPED, last_seq=3, reason="user")

    call.refresh_from_db()
    assert call.status == ToolCall.Status.CANCELLED
    assert call.result is not None
    assert (call.result.content, call.result.tool_call_id) == (text, "c")


def test_deleting_a_session_stops_and_removes_all(session: ChatSession) -> None:
    make_run(session)
    make_run(session, status=Status.PENDING)

    delete_session(session)

    assert not ChatSession.objects.exists()
    assert not Run.objects.exists()
    assert not Message.objects.exists()


async def test_a_started_run_is_told_on_the_users_channel(
    lab: Project, alice: User
) -> None:
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(user_group(alice.pk), channel)
    run = await db(lambda: ask(lab, alice))()

    async with asyncio.timeout(10):
        event = (await layer.receive(channel))["event"]
    assert event["type"] == "run_started"
    assert event["run_id"] == str(run.pk)
    assert event["session_id"] == run.session.thread_id
