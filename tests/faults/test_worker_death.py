"""A worker that dies costs seconds: no answer, and nothing is said or done twice."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable

import pytest
from celery import Celery

from tests.fakes.provider import ScriptedProvider, calls, says, stalls
from tests.faults.saying import counts_to, numbered, slow_change, slow_read
from tests.faults.workers import add_second_worker, executor, is_second_attempt
from tests.stack import Stack, eventually
from tests.stack_client import (
    TRANSPORTS,
    Transport,
    follow,
    is_type,
    numbers,
    stored_texts,
    texts,
    words,
)

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("helper", ["second worker alive", "only worker restarted"])
async def test_another_attempt_answers_and_followers_agree_with_history(
    stack: Stack,
    model: ScriptedProvider,
    transport: Transport,
    helper: str,
    record_property: Callable[[str, object], None],
) -> None:
    model.script(counts_to(100))
    if helper == "second worker alive":
        add_second_worker(stack)
    started = stack.post("Count.")
    session = started["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    await follow(stack, session, until=words(30))

    name = executor(stack)
    stack.kill(name)
    killed = time.monotonic()
    if helper == "only worker restarted":
        stack.start_again(name)
    await follow(stack, session, until=is_second_attempt)
    record_property("seconds_to_new_token", time.monotonic() - killed)
    events = await following

    assert numbers(events) == list(range(1, len(events) + 1))
    assert [e["attempt"] for e in events if e["type"] == "attempt"] == [1, 2]
    assert events[-1]["status"] == "succeeded"
    assert list(texts(events).values()) == [numbered(100)]
    history = stack.history(session)
    assert stored_texts(history) == texts(events)
    assert [message["role"] for message in history] == ["user", "assistant"]
    assert events == await follow(stack, session)
    assert call_states(stack, session) == ["lost", "succeeded"]


def call_states(stack: Stack, session: str) -> list[str]:
    rows = stack.rows(
        "SELECT c.status FROM chat_llmcall c JOIN chat_chatsession s"
        f" ON s.id = c.session_id WHERE s.thread_id = '{session}'"
        " AND c.operation = 'chat' ORDER BY c.id"
    )
    return [status for (status,) in rows]


@pytest.mark.database
async def test_a_read_that_died_with_its_worker_runs_again(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(slow_read(), says("Done."))
    session = stack.post("Ping.")["session_id"]
    await follow(stack, session, until=is_type("tool_start"))

    stack.kill("worker")
    stack.start_again("worker")
    events = await follow(stack, session)

    assert [e["type"] for e in events].count("tool_start") == 2
    (end,) = [event for event in events if event["type"] == "tool_end"]
    assert end["status"] == "ok"
    assert len(model.requests) == 2
    history = stack.history(session)
    assert [m["role"] for m in history] == ["user", "assistant", "tool", "assistant"]
    assert history[2]["content"] == end["tool_output"]


@pytest.mark.database
async def test_a_change_that_died_with_its_worker_is_not_repeated(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(slow_change(), says("I will look first."))
    session = stack.post("Change it.")["session_id"]
    await asyncio.to_thread(stack.approve, session)
    await follow(stack, session, until=is_type("tool_start"))

    stack.kill("worker")
    stack.start_again("worker")
    events = await follow(stack, session)

    assert [e["type"] for e in events].count("tool_start") == 1
    assert events[-1]["status"] == "succeeded"
    history = stack.history(session)
    assert [m["role"] for m in history] == ["user", "assistant", "tool", "assistant"]
    assert "outcome is unknown" in history[2]["content"]
    assert "outcome is unknown" in model.requests[-1].text
    # The person hears of it too, and the call is closed on the page.
    (end,) = [event for event in events if event["type"] == "tool_end"]
    assert end["status"] == "error"
    assert end["tool_output"] == history[2]["content"]


async def test_a_decision_made_while_no_worker_lives_is_carried_out_once(
    stack: Stack, model: ScriptedProvider
) -> None:
    devices = [{"device": "PC1", "commands": ["set pcname PC1"]}]
    model.script(calls(("run_commands", {"devices": devices})), says("Done."))
    session = stack.post("Change it.")["session_id"]
    following = asyncio.create_task(follow(stack, session))
    [shown] = await asyncio.to_thread(stack.waiting, session)

    stack.kill("worker")
    await asyncio.to_thread(stack.approve, session)
    stack.start_again("worker")
    events = await following

    assert shown["arguments"] == {"devices": devices}
    assert "NAME" in shown["devices"][0]["before"]
    types = [event["type"] for event in events]
    for kind in ("approval_required", "approval_resolved", "tool_start", "tool_end"):
        assert types.count(kind) == 1, kind
    assert events[-1]["status"] == "succeeded"
    assert numbers(events) == list(range(1, len(events) + 1))
    assert len(model.requests) == 2
    assert stack.run(events[0]["run_id"])["attempt"] == 2


async def test_an_answer_that_is_stored_is_not_asked_for_again(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(says("Only once."))
    # As if each worker died between the answer and the end of its run.
    stack.rows(
        "CREATE TRIGGER no_end BEFORE UPDATE ON chat_run WHEN NEW.status = 'succeeded'"
        " BEGIN SELECT RAISE(ABORT, 'not yet'); END"
    )
    try:
        session = stack.post("Answer.")["session_id"]
        following = asyncio.create_task(follow(stack, session))
        await follow(stack, session, until=lambda event: event["attempt"] == 2)
    finally:
        stack.rows("DROP TRIGGER no_end")
    events = await following

    assert events[-1]["status"] == "succeeded"
    assert len(model.requests) == 1
    history = stack.history(session)
    assert [message["role"] for message in history] == ["user", "assistant"]
    assert texts(events) == stored_texts(history)


async def test_a_run_that_kills_every_worker_fails_in_the_end(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(stalls())
    started = stack.post("Kill.")
    following = asyncio.create_task(follow(stack, started["session_id"]))

    def is_over() -> bool:
        with contextlib.suppress(KeyError, ValueError):
            return str(stack.run(started["run_id"])["status"]) == "failed"
        return False

    kills = 0
    while not is_over():
        assert kills < 6, "it goes on for ever"
        asked = kills
        await asyncio.to_thread(
            eventually,
            lambda asked=asked: len(model.requests) > asked or is_over(),
            "the model is asked or the run is over",
            seconds=90,
        )
        if not is_over():
            stack.kill("worker")
            stack.start_again("worker")
            kills += 1
    events = await following

    # The first attempt and MAX_ATTEMPTS takeovers.
    assert kills == 4
    assert len(model.requests) == 4
    assert [event["type"] for event in events[-2:]] == ["error", "done"]
    assert events[-2]["code"] == "attempts_used_up"
    assert numbers(events) == list(range(1, len(events) + 1))


async def test_a_second_delivery_of_a_run_does_nothing(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(counts_to(60))
    started = stack.post("Count.")
    session = started["session_id"]
    await follow(stack, session, until=words(5))
    broker = Celery(broker=f"redis+socket://{stack.redis_path}?virtual_host=1")

    def deliver() -> None:
        broker.send_task(
            "chat.tasks.execute_run", [started["run_id"]], queue="runs", retry=False
        )

    deliver()
    deliver()
    events = await follow(stack, session)
    deliver()
    await asyncio.to_thread(
        eventually, lambda: stack.redis(1).llen("runs") == 0, "it was delivered"
    )
    broker.close()

    model.script(says("Next."))
    following = stack.post("Next.", session_id=session)
    await follow(stack, session)
    assert stack.run(following["run_id"])["status"] == "succeeded"
    assert len(model.requests) == 2
    assert [e["type"] for e in events].count("attempt") == 1
    assert stack.run(started["run_id"])["attempt"] == 1
    assert json.dumps(stack.history(session)).count("w60") == 1
