import asyncio
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chat.events import feed, reader
from chat.events.address import RunAddress
from chat.events.reader import Batch, Heartbeat, follow
from chat.events.redis import redis
from chat.events.vocabulary import Done, LogLine
from chat.events.writer import RunLog
from chat.models import Message, Run
from chat.models.run import Status
from projects.models import Project
from tests.chat.support import (
    claimed,
    db,
    events_of,
    followed,
    kinds,
    make_run,
    make_session,
    until,
)
from tests.conftest import Valkey

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


async def write(log: RunLog, count: int) -> None:
    for _ in range(count):
        log.put(LogLine("info", f"line {log.seq + 1}"))
    await log.flush()


async def end(log: RunLog) -> None:
    log.close()
    log.put(Done("succeeded", ""))
    await log.flush()


def end_row(run: Run, *, saved_seq: int, status: Status = Status.SUCCEEDED) -> None:
    Run.objects.filter(pk=run.pk).update(status=status, saved_seq=saved_seq)


def answer(run: Run, text: str) -> Message:
    return Message.objects.create(
        session=run.session,
        run=run,
        round=run.round,
        sequence=2,
        role=Message.Role.ASSISTANT,
        content=text,
    )


async def next_batch(items: Any) -> list[dict[str, Any]]:
    async with asyncio.timeout(10):
        async for item in items:
            if isinstance(item, Batch):
                return [orjson.loads(entry.data) for entry in item.entries]
    raise AssertionError("no batch")


async def test_each_cursor_gets_the_rest(address: RunAddress) -> None:
    log = RunLog(address, 1)
    await write(log, 6)
    await end(log)
    whole = await events_of(address)

    for after in range(7):
        assert await followed(address, after) == whole[after:]


@hypothesis_settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    stored=st.integers(0, 12),
    live=st.lists(st.integers(0, 5), max_size=5),
    cut=st.floats(0, 1),
    takeover=st.integers(0, 12),
)
async def test_replay_and_live_feed_are_one_list_at_any_cut(
    lab: Project,
    alice: User,
    valkey: Valkey,
    stored: int,
    live: list[int],
    cut: float,
    takeover: int,
) -> None:
    run = await db(lambda: claimed(make_run(make_session(alice, lab))))()
    address = RunAddress.of(run)
    log = RunLog(address, 1)
    await write(log, min(stored, takeover))
    if takeover < stored:
        log = RunLog(address, 2)
        await log.open([], floor=0)
        await write(log, stored - takeover)
    after = int(cut * log.seq)

    following = asyncio.create_task(followed(address, after))
    for count in live:
        await asyncio.sleep(0)
        await write(log, count)
    await end(log)

    events = await following
    assert events == (await events_of(address))[after:]
    assert [event["seq"] for event in events] == list(range(after + 1, log.seq + 1))
    assert events[-1]["type"] == "done"


async def test_two_followers_get_the_same(address: RunAddress) -> None:
    log = RunLog(address, 1)
    first = asyncio.create_task(followed(address))
    await write(log, 3)
    second = asyncio.create_task(followed(address))
    await write(log, 3)
    await end(log)

    assert await first == await second == await events_of(address)


async def test_the_last_follower_closes_the_feed(address: RunAddress) -> None:
    log = RunLog(address, 1)
    await write(log, 1)
    one, two = (follow(address) for _ in range(2))
    await next_batch(one)
    await next_batch(two)
    feeds = feed.Feed._open[asyncio.get_running_loop()]

    await one.aclose()
    assert address in feeds
    await two.aclose()

    assert address not in feeds


async def test_a_slow_follower_loses_nothing(
    address: RunAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The shared tail forgets at once, so the follower has to read the log.
    monkeypatch.setattr(feed, "_TAIL_LENGTH", 3)
    log = RunLog(address, 1)
    following = asyncio.create_task(followed(address, pause=0.02))
    for _ in range(20):
        await write(log, 4)
    await end(log)

    assert await following == await events_of(address)


async def test_a_long_log_is_replayed_in_pages(
    address: RunAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_log = reader.read_log
    sizes = []

    async def short_pages(where: RunAddress, after: int) -> list[Any]:
        page = await read_log(where, after, count=7)
        sizes.append(len(page))
        return page

    monkeypatch.setattr(reader, "read_log", short_pages)
    monkeypatch.setattr(feed, "_TAIL_LENGTH", 3)
    log = RunLog(address, 1)
    await write(log, 30)
    await end(log)

    assert len(await followed(address)) == 31
    assert max(sizes) == 7


async def test_a_trimmed_log_is_replaced_by_a_snapshot(
    running: Run, address: RunAddress
) -> None:
    log = RunLog(address, 1)
    await write(log, 9)
    await redis().xtrim(address.key, minid="1-6", approximate=False)
    await db(answer)(running, "so far")
    await db(Run.objects.filter(pk=running.pk).update)(saved_seq=7)

    following = asyncio.create_task(followed(address))
    await asyncio.sleep(0)
    await end(log)

    events = await following
    assert kinds(events) == ["snapshot", "log", "log", "done"]
    assert [event["seq"] for event in events] == [7, 8, 9, 10]
    assert [m["content"] for m in events[0]["messages"]][-1] == "so far"
    assert events[0]["run"]["status"] == "running"


async def test_a_cursor_within_a_trimmed_log_needs_no_snapshot(
    running: Run, address: RunAddress
) -> None:
    log = RunLog(address, 1)
    await write(log, 9)
    await redis().xtrim(address.key, minid="1-6", approximate=False)
    await end(log)

    assert [event["seq"] for event in await followed(address, 5)] == [6, 7, 8, 9, 10]


async def test_a_gap_waits_until_the_rows_reach_its_end(
    running: Run, address: RunAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    state_of = reader.state_of

    def counted(where: RunAddress, seq: int) -> Any:
        looked.append(seq)
        return state_of(where, seq)

    monkeypatch.setattr(reader, "state_of", counted)
    log = RunLog(address, 1)
    await write(log, 9)
    await redis().xtrim(address.key, minid="1-6", approximate=False)
    await db(Run.objects.filter(pk=running.pk).update)(saved_seq=3)
    following = asyncio.create_task(followed(address))
    await until(lambda: len(looked) > 2, "a second look at the rows")
    assert not following.done()

    await db(Run.objects.filter(pk=running.pk).update)(saved_seq=9)
    await end(log)

    events = await following
    assert [(e["type"], e["seq"]) for e in events] == [("snapshot", 9), ("done", 10)]


async def test_a_finished_run_without_a_log_is_told_from_its_rows(
    running: Run, address: RunAddress
) -> None:
    await db(answer)(running, "The answer.")
    await db(end_row)(running, saved_seq=12)

    events = await followed(address)

    assert kinds(events) == ["snapshot", "done"]
    assert [event["seq"] for event in events] == [11, 12]
    assert events[0]["messages"][-1]["content"] == "The answer."
    assert events[1]["status"] == "succeeded"


async def test_a_cursor_beyond_the_end_gets_the_end(
    running: Run, address: RunAddress
) -> None:
    await db(end_row)(running, saved_seq=12)

    assert kinds(await followed(address, 5_000)) == ["snapshot", "done"]


async def test_a_cursor_beyond_a_living_log_gets_the_end_too(
    running: Run, address: RunAddress, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    log = RunLog(address, 1)
    await write(log, 2)
    await end(log)
    await db(end_row)(running, saved_seq=3)

    assert kinds(await followed(address, 5_000))[-1] == "done"


async def test_an_end_that_never_reached_the_log_is_told_from_the_row(
    running: Run, address: RunAddress, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    log = RunLog(address, 1)
    await write(log, 2)
    following = asyncio.create_task(followed(address))
    await asyncio.sleep(0)
    await db(end_row)(running, saved_seq=5, status=Status.FAILED)

    events = await following

    assert kinds(events)[-2:] == ["snapshot", "done"]
    assert events[-1]["status"] == "failed"
    assert events[-1]["seq"] == 5


async def test_a_run_deleted_while_it_is_followed_ends_the_stream(
    running: Run, address: RunAddress, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    log = RunLog(address, 1)
    await write(log, 2)
    following = asyncio.create_task(followed(address))
    await asyncio.sleep(0)
    await db(lambda: running.session.delete())()

    events = await following

    assert events[-1]["type"] == "done"
    assert events[-1]["reason"] == "deleted"


async def test_a_quiet_run_gives_heartbeats_without_numbers(
    address: RunAddress, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.02
    items = follow(address)

    async with asyncio.timeout(10):
        assert [await anext(items), await anext(items)] == [Heartbeat("running")] * 2
    await items.aclose()


async def test_redis_restarted_loses_no_follower_an_event(
    running: Run, address: RunAddress, valkey: Valkey
) -> None:
    log = RunLog(address, 1)
    items = follow(address)
    await write(log, 3)
    seen = []
    while len(seen) < 3:
        seen += await next_batch(items)

    valkey.kill()
    try:
        log.put(LogLine("info", "while it was away"))
        await log.flush(seconds=0.2)
    finally:
        valkey.start()
    await write(log, 2)
    await log.flush(seconds=10)
    await end(log)
    async with asyncio.timeout(20):
        async for item in items:
            if isinstance(item, Batch):
                seen += [orjson.loads(entry.data) for entry in item.entries]

    assert [event["seq"] for event in seen] == list(range(1, 8))
    assert seen[3]["text"] == "while it was away"
    assert seen[-1]["type"] == "done"


async def test_a_follower_without_redis_gets_the_end_from_the_row(
    running: Run, address: RunAddress, valkey: Valkey, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    valkey.kill()
    try:
        await db(end_row)(running, saved_seq=4)
        events = await followed(address)
    finally:
        valkey.start()

    assert kinds(events) == ["snapshot", "done"]


async def test_a_snapshot_shows_calls_with_their_results(
    running: Run, address: RunAddress
) -> None:
    def rows() -> None:
        said = answer(running, "Let me check.")
        result = Message.objects.create(
            session=running.session,
            run=running,
            round=1,
            sequence=3,
            role=Message.Role.TOOL,
            tool_call_id="call_a",
            name="read_topology",
            content="{}",
        )
        for position, (name, found) in enumerate([("a", result), ("b", None)]):
            running.tool_calls.create(
                message=said,
                call_id=f"call_{name}",
                position=position,
                name="read_topology",
                arguments="{}",
                result=found,
                status="succeeded" if found else "running",
            )
        end_row(running, saved_seq=9)

    await db(rows)()
    snapshot = (await followed(address))[0]

    shown = [(c["id"], c["status"], c["output"]) for c in snapshot["tool_calls"]]
    assert shown == [("call_a", "succeeded", "{}"), ("call_b", "running", None)]
    assert [m["role"] for m in snapshot["messages"]] == ["user", "assistant", "tool"]
    assert snapshot["run"]["round"] == 1
