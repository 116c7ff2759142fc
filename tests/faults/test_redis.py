"""Redis is the way, not the place: what is lost with it comes back from rows."""

import asyncio
import shutil

import pytest

from tests.fakes.provider import ScriptedProvider, says
from tests.faults.saying import counts_to, numbered
from tests.stack import Stack, eventually
from tests.stack_client import (
    TRANSPORTS,
    Transport,
    ask,
    follow,
    stored_texts,
    texts,
    words,
)

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("is_lost", [False, True], ids=["data kept", "data lost"])
async def test_followers_reach_the_right_end_when_redis_restarts_in_mid_answer(
    stack: Stack, model: ScriptedProvider, transport: Transport, is_lost: bool
) -> None:
    model.script(counts_to(250))
    session = stack.post("Count.")["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    await follow(stack, session, until=words(30))

    stack.kill("valkey")
    if is_lost:
        shutil.rmtree(stack.valkey_dir)
    stack.start_again("valkey")
    events = await following

    assert events[-1]["status"] == "succeeded"
    assert list(texts(events).values()) == [numbered(250)]
    assert texts(events) == stored_texts(stack.history(session))
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(set(seqs))
    late = await follow(stack, session)
    assert texts(late) == texts(events)
    await asyncio.to_thread(stack.wait_until_healthy)
    model.script(says("Still here."))
    answer = await ask(stack, "And now?", session_id=session)
    assert list(texts(answer).values()) == ["Still here."]


@pytest.mark.database
async def test_a_question_without_redis_is_stored_and_answered_later(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(says("Better late."))
    assert stack.project_id
    stack.kill("valkey")

    answer = stack.call("POST", "/stream", json={"message": "Is anybody there?"})

    assert answer.status_code == 503
    body = answer.json()
    assert body["code"] == "stream_unavailable"
    stack.start_again("valkey")
    await asyncio.to_thread(
        eventually,
        lambda: stack.run(body["run_id"])["status"] == "succeeded",
        "the run is answered",
        seconds=60,
    )
    assert len(model.requests) == 1


async def test_an_answer_goes_on_while_redis_is_away(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(counts_to(150))
    started = stack.post("Count.")
    session = started["session_id"]
    await follow(stack, session, until=words(20))

    stack.kill("valkey")
    await asyncio.to_thread(
        eventually,
        lambda: stack.run(started["run_id"])["status"] == "succeeded",
        "the run ends in its rows",
        seconds=60,
    )

    assert list(stored_texts(stack.history(session)).values()) == [numbered(150)]
    stack.start_again("valkey")
    events = await follow(stack, session)
    assert list(texts(events).values()) == [numbered(150)]
