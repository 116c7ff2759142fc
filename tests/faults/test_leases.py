"""A worker frozen, told to end, or whose session is gone writes nothing more."""

import asyncio
import json
import signal

import pytest

from tests.fakes.provider import ScriptedProvider, says
from tests.faults.saying import counts_to, numbered, slow_read
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
@pytest.mark.parametrize("moment", ["the other still answers", "the other has ended"])
async def test_a_worker_frozen_beyond_its_lease_writes_nothing_when_it_wakes(
    stack: Stack, model: ScriptedProvider, moment: str
) -> None:
    model.script(counts_to(200))
    add_second_worker(stack)
    session = stack.post("Count.")["session_id"]
    following = asyncio.create_task(follow(stack, session))
    await follow(stack, session, until=words(20))
    name = executor(stack)

    stack.signal(name, signal.SIGSTOP)
    await follow(stack, session, until=is_second_attempt)
    if moment == "the other has ended":
        await following
    before = stack.history(session)
    stack.signal(name, signal.SIGCONT)
    events = await following
    await asyncio.to_thread(
        eventually, lambda: model.open_count == 0, "the frozen one has given up"
    )
    stack.wait_until_healthy()

    assert numbers(events) == list(range(1, len(events) + 1))
    attempts = [event["attempt"] for event in events]
    assert attempts == sorted(attempts)
    assert list(texts(events).values()) == [numbered(200)]
    assert stored_texts(stack.history(session)) == texts(events)
    assert await follow(stack, session) == events
    if moment == "the other has ended":
        assert stack.history(session) == before


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_a_worker_told_to_end_hands_its_run_over(
    stack: Stack, model: ScriptedProvider, transport: Transport
) -> None:
    model.script(counts_to(150))
    add_second_worker(stack)
    session = stack.post("Count.")["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    await follow(stack, session, until=words(20))

    seconds = await asyncio.to_thread(stack.terminate, executor(stack))
    events = await following

    assert seconds < 15
    assert [e["attempt"] for e in events if e["type"] == "attempt"] == [1, 2]
    assert numbers(events) == list(range(1, len(events) + 1))
    assert events[-1]["status"] == "succeeded"
    assert list(texts(events).values()) == [numbered(150)]
    assert texts(events) == stored_texts(stack.history(session))


async def test_the_web_process_ends_in_time_with_open_streams(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(counts_to(300))
    session = stack.post("Count.")["session_id"]
    following = [
        asyncio.create_task(follow(stack, session, transport=transport))
        for transport in TRANSPORTS.values()
        for _ in range(5)
    ]
    await follow(stack, session, until=words(10))

    seconds = await asyncio.to_thread(stack.terminate, "web")
    stack.start_again("web")
    seen = await asyncio.gather(*following)

    assert seconds < 10
    assert all(events == seen[0] for events in seen)
    assert list(texts(seen[0]).values()) == [numbered(300)]


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("where", ["in the answer", "in a tool"])
async def test_a_session_deleted_in_mid_answer_does_not_come_back(
    stack: Stack, model: ScriptedProvider, transport: Transport, where: str
) -> None:
    model.script(
        counts_to(400) if where == "in the answer" else slow_read(), says("Done.")
    )
    started = stack.post("A secret word: xylophone.")
    session = started["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    first = words(20) if where == "in the answer" else is_type("tool_start")
    await follow(stack, session, until=first)

    answer = stack.call("DELETE", f"/sessions/{session}")

    assert answer.status_code == 204
    events = await following
    assert (events[-1]["type"], events[-1]["status"]) == ("done", "stopped")
    await asyncio.to_thread(
        eventually, lambda: model.open_count == 0, "the model is no longer asked"
    )
    assert stack.call("GET", f"/sessions/{session}").status_code == 404
    for table in ("chat_chatsession", "chat_message", "chat_run", "chat_toolcall"):
        rows = stack.rows(f"SELECT * FROM {table}")
        assert "xylophone" not in str(rows)
        assert session not in str(rows)
    assert "xylophone" not in everything_in_redis(stack)
    assert stack.run(started["run_id"])["code"] == "not_found"


def everything_in_redis(stack: Stack) -> str:
    client = stack.redis()
    found = []
    for key in client.scan_iter("*"):
        if client.type(key) == b"stream":
            found.append(str(client.xrange(key)))
    return json.dumps(found)
