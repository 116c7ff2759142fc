import asyncio
import uuid

import pytest
from channels.layers import get_channel_layer

from chat.events.address import Cursor, RunAddress
from chat.events.log import REFUSED, continue_log, read_log, read_newest, wire
from chat.events.redis import redis
from chat.events.vocabulary import AttemptStarted, Done, LogLine, StatusChanged
from chat.events.writer import RunLog
from tests.chat.support import events_of, kinds

pytestmark = pytest.mark.needs("valkey")


@pytest.fixture
def address(valkey: object) -> RunAddress:
    return RunAddress(str(uuid.uuid4()), str(uuid.uuid4()), 1)


async def listening(address: RunAddress) -> str:
    """A member of the run's group."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(address.group, channel)
    # Subscribing is sent, not confirmed: the first message that arrives proves it.
    async with asyncio.timeout(10):
        while True:
            await layer.group_send(address.group, {"type": "probe"})
            try:
                async with asyncio.timeout(0.2):
                    assert (await layer.receive(channel))["type"] == "probe"
                return channel
            except TimeoutError:
                continue


async def opened(address: RunAddress, attempt: int = 1, floor: int = 0) -> RunLog:
    log = RunLog(address, attempt)
    await log.open([], floor=floor)
    return log


async def test_a_zombies_events_are_refused_and_not_announced(
    address: RunAddress,
) -> None:
    zombie = await opened(address)
    zombie.put(LogLine("info", "alive"))
    await zombie.flush()
    heir = await opened(address, attempt=2)
    channel = await listening(address)
    fenced: list[bool] = []
    zombie.on_fenced = lambda: fenced.append(True)

    zombie.put(LogLine("info", "undead"))
    await zombie.flush()
    heir.put(LogLine("info", "heir"))
    await heir.flush()

    assert fenced == [True]
    assert zombie.is_fenced
    events = await events_of(address)
    assert [event.get("text") for event in events if event["type"] == "log"] == [
        "alive",
        "heir",
    ]
    async with asyncio.timeout(5):
        heard = await get_channel_layer().receive(channel)
        while heard["type"] == "probe":
            heard = await get_channel_layer().receive(channel)
    assert heard["attempt"] == 2
    assert b"heir" in heard["events"][0]


async def test_a_fenced_log_takes_nothing_more(address: RunAddress) -> None:
    log = await opened(address)
    log.fence()

    log.put(LogLine("info", "too late"))
    log.text("m", "too late")
    await log.flush()

    assert kinds(await events_of(address)) == ["attempt"]


async def test_opening_an_older_attempt_is_refused(address: RunAddress) -> None:
    await opened(address, attempt=2)

    late = await opened(address, attempt=1)

    assert late.is_fenced
    assert len(await events_of(address)) == 1


async def test_a_repeated_append_writes_nothing_twice(address: RunAddress) -> None:
    log = await opened(address)
    log.put(LogLine("info", "one"))
    log.put(LogLine("info", "two"))
    entries = log.take()

    # As after a time-out of a request that had arrived.
    await log._flusher._send([(log, entries)])
    await log._flusher._send([(log, entries)])

    assert [event["seq"] for event in await events_of(address)] == [1, 2, 3]


async def test_numbers_go_on_over_attempts(address: RunAddress) -> None:
    first = await opened(address)
    first.put(LogLine("info", "one"))
    await first.flush()

    second = await opened(address, attempt=2, floor=1)
    second.put(LogLine("info", "two"))
    await second.flush()

    events = await events_of(address)
    assert [(event["seq"], event["attempt"]) for event in events] == [
        (1, 1),
        (2, 1),
        (3, 2),
        (4, 2),
    ]


async def test_a_lost_log_makes_numbers_jump(address: RunAddress) -> None:
    first = await opened(address)
    await first.flush()
    await redis().delete(address.key)

    second = await opened(address, attempt=2, floor=7)
    second.put(LogLine("info", "after"))
    await second.flush()

    assert [event["seq"] for event in await events_of(address)] == [10_008, 10_009]


async def test_a_log_that_lost_nothing_does_not_jump(address: RunAddress) -> None:
    assert (await opened(address)).seq == 1


async def test_continuing_returns_the_last_number_or_refuses(
    address: RunAddress,
) -> None:
    events = [AttemptStarted(3, []), StatusChanged("waiting", "for a lock")]

    assert await continue_log(address, 3, events) == 2
    assert await continue_log(address, 2, events) == REFUSED
    assert await continue_log(address, 3, [Done("stopped", "user")]) == 3


async def test_every_event_has_the_common_fields(address: RunAddress) -> None:
    log = await opened(address)
    log.text("m", "Hi")
    await log.flush()

    for seq, event in enumerate(await events_of(address), 1):
        assert event["seq"] == seq
        assert event["attempt"] == 1
        assert event["session_id"] == address.session_id
        assert event["run_id"] == address.run_id
        assert event["round"] == 1
        assert event["timestamp"].endswith("+00:00")


async def test_reading_goes_on_after_any_number_over_attempts(
    address: RunAddress,
) -> None:
    for attempt in (1, 2, 4):
        log = await opened(address, attempt=attempt)
        for number in range(3):
            log.put(LogLine("info", f"{attempt}.{number}"))
        await log.flush()

    for after in range(13):
        entries = await read_log(address, after)
        assert [entry.seq for entry in entries] == list(range(after + 1, 13))


async def test_a_page_has_no_more_than_was_asked_for(address: RunAddress) -> None:
    log = await opened(address)
    for number in range(9):
        log.put(LogLine("info", str(number)))
    await log.flush()

    assert [e.seq for e in await read_log(address, 2, count=3)] == [3, 4, 5]


async def test_the_newest_end_has_no_gap(address: RunAddress) -> None:
    await redis().xadd(address.key, {"e": b"{}"}, id="1-1")
    for seq in (5, 6, 7):
        await redis().xadd(address.key, {"e": b"{}"}, id=f"1-{seq}")

    assert [entry.seq for entry in await read_newest(address)] == [5, 6, 7]


async def test_a_log_expires_sooner_after_the_end(
    address: RunAddress, settings: object
) -> None:
    settings.EVENT_LOG_GRACE, settings.RUN_TIME_LIMIT = 100, 1000.0
    log = await opened(address)
    log.put(LogLine("info", "going"))
    await log.flush()
    assert await redis().ttl(address.key) > 1000

    log.close()
    log.put(Done("succeeded", ""))
    await log.flush()

    assert 0 < await redis().ttl(address.key) <= 100


async def test_our_wire_format_is_the_real_layers(address: RunAddress) -> None:
    layer = get_channel_layer()
    message = {"type": "run.events", "attempt": 1, "seq": 2, "events": [b'{"a":1}']}
    channel = await listening(address)

    ours, data = wire(address.group, message)
    await redis().publish(ours, data)
    async with asyncio.timeout(5):
        heard = await layer.receive(channel)
        while heard["type"] == "probe":
            heard = await layer.receive(channel)
    assert heard == message

    # And what the layer itself sends goes out on the same channel, in the same form.
    async with redis().pubsub() as raw:
        await raw.subscribe(ours)
        assert (await raw.get_message(timeout=5))["type"] == "subscribe"
        await layer.group_send(address.group, message)
        sent = await raw.get_message(timeout=5)
    assert layer.deserialize(sent["data"]) == layer.deserialize(data)


@pytest.mark.parametrize(
    "text",
    [None, "", ".", "1", "1.", ".1", "-1.2", "1.-2", "1.2.3", "a.1", "1.b", "².1"]
    + ["1" * 30 + ".1", " 1.2", "1.2 "],
)
def test_what_is_no_cursor_is_none(text: str | None) -> None:
    assert Cursor.parse(text) is None


def test_a_cursor_holds_within_its_round_only() -> None:
    cursor = Cursor.parse("3.17")

    assert cursor == Cursor(3, 17)
    assert str(cursor) == "3.17"
    assert cursor.within(3) == 17
    assert cursor.within(4) == 0
