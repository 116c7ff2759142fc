"""However often cut off, who follows sees the same events: none lost or doubled."""

import asyncio
import contextlib
import json
import signal

import httpx
import psutil
import pytest

from tests.fakes.provider import ScriptedProvider, says, stalls
from tests.faults.saying import counts_to, numbered
from tests.stack import Stack, eventually
from tests.stack_client import (
    TRANSPORTS,
    Transport,
    ask,
    follow,
    numbers,
    socket,
    stored_texts,
    stream,
    texts,
    words,
)

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_a_late_and_a_cut_client_see_what_an_uninterrupted_one_sees(
    stack: Stack, model: ScriptedProvider, transport: Transport
) -> None:
    model.script(counts_to(200))
    session = stack.post("Count.")["session_id"]

    async def late() -> list[dict[str, object]]:
        await follow(stack, session, transport=transport, until=words(30))
        return await follow(stack, session, transport=transport)

    whole, joined, cut = await asyncio.gather(
        follow(stack, session, transport=transport),
        late(),
        follow(stack, session, transport=transport, cuts=[7, 20, 1, 30, 12]),
    )

    assert numbers(whole) == list(range(1, len(whole) + 1))
    assert joined == whole
    assert cut == whole
    assert list(texts(whole).values()) == [numbered(200)]
    assert texts(whole) == stored_texts(stack.history(session))


@pytest.mark.database
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_a_restart_of_the_web_process_loses_no_event(
    stack: Stack,
    model: ScriptedProvider,
    transport: Transport,
    number: signal.Signals,
) -> None:
    model.script(counts_to(150))
    session = stack.post("Count.")["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    await follow(stack, session, until=words(10))

    stack.signal("web", number)
    await asyncio.to_thread(
        eventually, lambda: not stack.is_running("web"), "web has ended"
    )
    stack.start_again("web")
    await asyncio.to_thread(stack.wait_until_healthy)
    seen = await following

    assert seen == await follow(stack, session)
    assert numbers(seen) == list(range(1, len(seen) + 1))
    assert list(texts(seen).values()) == [numbered(150)]


async def test_a_post_cut_at_half_is_answered_and_its_rest_can_be_read(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(counts_to(100))
    seen = []
    async with (
        httpx.AsyncClient(headers=stack.headers(), timeout=60) as client,
        client.stream(
            "POST", f"{stack.url}{stack.chat_path}/stream", json={"message": "Count."}
        ) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line[6:]))
                if len(texts(seen)) and "w30" in next(iter(texts(seen).values())):
                    break
    last = seen[-1]

    rest = await follow(
        stack, last["session_id"], after=f"{last['round']}.{last['seq']}"
    )

    assert seen + rest == await follow(stack, last["session_id"])
    assert list(texts(seen + rest).values()) == [numbered(100)]
    assert len(model.requests) == 1


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_an_answer_nobody_waits_for_is_whole(
    stack: Stack, model: ScriptedProvider, transport: Transport
) -> None:
    model.script(counts_to(60))
    started = stack.post("Count.")
    session = started["session_id"]

    await follow(stack, session, transport=transport, until=words(5))
    await asyncio.to_thread(
        eventually,
        lambda: stack.run(started["run_id"])["status"] == "succeeded",
        "the run has ended",
        seconds=60,
    )

    assert list(stored_texts(stack.history(session)).values()) == [numbered(60)]


@pytest.mark.database
async def test_a_hundred_followers_see_all_and_leave_nothing_behind(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(counts_to(100))
    await follow(stack, stack.post("Warm up.")["session_id"])
    process = psutil.Process(stack.pid("web"))
    threads = process.num_threads()
    session = stack.post("Count.")["session_id"]

    seen = await asyncio.gather(
        *(
            follow(stack, session, transport=socket if index % 4 == 0 else stream)
            for index in range(100)
        )
    )

    assert all(events == seen[0] for events in seen)
    assert list(texts(seen[0]).values()) == [numbered(100)]
    await asyncio.to_thread(
        eventually, lambda: subscriptions(stack) == [], "no run is subscribed to"
    )
    # The pool that all requests share may have grown, by no thread a stream.
    assert process.num_threads() <= threads + 40
    if stack.database == "postgres":
        await asyncio.to_thread(
            eventually, lambda: connection_count(stack) <= 45, "connections came back"
        )


@pytest.mark.database
async def test_followers_of_a_silent_run_hold_no_thread_and_no_connection(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(stalls())
    session = stack.post("Say nothing.")["session_id"]
    await follow(stack, session, until=lambda event: event["type"] == "message")
    process = psutil.Process(stack.pid("web"))

    async def listen() -> None:
        async for _ in stream(stack, session):
            pass

    listeners = [asyncio.create_task(listen()) for _ in range(100)]
    await asyncio.to_thread(
        eventually,
        lambda: len(process.net_connections()) >= 100,
        "all are connected",
        seconds=60,
    )

    assert stack.call("GET", "/sessions").status_code == 200
    # While it is being let in, each has one.
    await asyncio.to_thread(
        eventually, lambda: process.num_threads() < 70, "streams hold no thread"
    )
    if stack.database == "postgres":
        assert connection_count(stack) < 70
    for listener in listeners:
        listener.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*listeners)
    await asyncio.to_thread(
        eventually, lambda: subscriptions(stack) == [], "no run is subscribed to"
    )
    stack.call("POST", f"/sessions/{session}/stop").raise_for_status()


def subscriptions(stack: Stack) -> list[bytes]:
    found: list[bytes] = stack.redis().pubsub_channels("*run.*")
    return found


def connection_count(stack: Stack) -> int:
    rows = stack.rows(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    )
    return int(rows[0][0])


async def test_each_stream_of_many_short_answers_ends(
    stack: Stack, model: ScriptedProvider
) -> None:
    for _ in range(40):
        # An answer of about the time after which a new feed first reads its log.
        model.script(says("One two three.", pace=0.02))
        events = await ask(stack, "Be short.")
        assert events[-1]["type"] == "done"
