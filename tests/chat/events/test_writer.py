import asyncio
import uuid
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chat.events.address import RunAddress
from chat.events.vocabulary import Done, ToolStarted
from chat.events.writer import RunLog, Throttle
from tests.chat.support import events_of, kinds
from tests.conftest import Valkey

pytestmark = pytest.mark.needs("valkey")


def new_address() -> RunAddress:
    return RunAddress(str(uuid.uuid4()), str(uuid.uuid4()), 1)


async def test_pieces_of_one_flush_become_one_event(valkey: Valkey) -> None:
    address = new_address()
    log = RunLog(address, 1)

    for piece in ("PC1 ", "has ", "no ", "gateway."):
        log.text("m", piece)
    await log.flush()

    events = await events_of(address)
    assert [event["content"] for event in events] == ["PC1 has no gateway."]


async def test_the_first_piece_does_not_wait_for_more(valkey: Valkey) -> None:
    address = new_address()
    log = RunLog(address, 1)

    log.text("m", "first")
    await log._flusher.flushed()
    log.text("m", " second")
    await log.flush()

    events = await events_of(address)
    assert [event["content"] for event in events] == ["first", " second"]


async def test_text_of_two_messages_is_not_mixed(valkey: Valkey) -> None:
    address = new_address()
    log = RunLog(address, 1)

    log.text("a", "1")
    log.text("b", "2")
    log.reasoning("b", "3")
    log.text("b", "4")
    await log.flush()

    events = await events_of(address)
    assert [(e["type"], e["message_id"], e["content"]) for e in events] == [
        ("content", "a", "1"),
        ("content", "b", "2"),
        ("reasoning", "b", "3"),
        ("content", "b", "4"),
    ]


async def test_another_event_comes_after_the_text_before_it(valkey: Valkey) -> None:
    address = new_address()
    log = RunLog(address, 1)

    log.text("m", "Let me check.")
    log.put(ToolStarted("read_topology", "call_1"))
    log.text("m", "Done.")
    await log.flush()

    assert kinds(await events_of(address)) == ["content", "tool_start", "content"]


async def test_a_mark_counts_the_text_so_far(valkey: Valkey) -> None:
    log = RunLog(new_address(), 1)

    log.text("m", "text")

    assert log.mark() == 1
    assert log.mark() == 1


async def test_events_wait_while_redis_is_away(valkey: Valkey) -> None:
    address = new_address()
    log = RunLog(address, 1)
    log.text("m", "before ")
    await log.flush()

    valkey.kill()
    try:
        log.text("m", "during ")
        await log.flush(seconds=0.3)
    finally:
        valkey.start()
    log.text("m", "after")
    log.put(Done("succeeded", ""))
    await log.flush(seconds=10)

    events = await events_of(address)
    text = "".join(event.get("content", "") for event in events)
    # The log itself is lost with Valkey; what was not sent yet is not.
    assert text == "during after"
    assert [event["seq"] for event in events] == list(range(2, 2 + len(events)))
    assert events[-1]["type"] == "done"


PIECES = st.text(min_size=1, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("content"), st.sampled_from("ab"), PIECES),
        st.tuples(st.just("reasoning"), st.sampled_from("ab"), PIECES),
        st.tuples(st.just("tool_start"), st.sampled_from("ab"), st.just("")),
        st.tuples(st.sampled_from(["flush", "pause", "mark"]), st.just(""), PIECES),
    ),
    max_size=30,
)


def joined(items: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Neighbours of one kind and message as one; other events stay single."""
    whole = []
    for (kind, owner), group in groupby(items, key=lambda item: item[:2]):
        texts = [text for _, _, text in group]
        if kind == "tool_start":
            whole += [(kind, owner, "")] * len(texts)
        else:
            whole.append((kind, owner, "".join(texts)))
    return whole


@hypothesis_settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
async def test_any_interleaving_keeps_order_and_text(
    valkey: Valkey, steps: list[tuple[str, str, str]]
) -> None:
    address = new_address()
    log = RunLog(address, 1)
    expected = []

    for kind, owner, text in steps:
        match kind:
            case "content":
                log.text(owner, text)
            case "reasoning":
                log.reasoning(owner, text)
            case "tool_start":
                log.put(ToolStarted(owner, owner))
            case "flush":
                await log.flush()
            case "mark":
                log.mark()
            case _:
                await asyncio.sleep(0)
        if kind in ("content", "reasoning", "tool_start"):
            expected.append((kind, owner, text))
    await log.flush()

    events = await events_of(address)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    seen = [
        (e["type"], e.get("message_id") or e["tool_name"], e.get("content", ""))
        for e in events
    ]
    assert joined(seen) == joined(expected)


async def test_runs_of_one_worker_do_not_mix(valkey: Valkey) -> None:
    logs = [RunLog(new_address(), 1) for _ in range(20)]

    for round in range(10):
        for number, log in enumerate(logs):
            log.text("m", f"{number}.{round} ")
        await asyncio.sleep(0)
    await asyncio.gather(*(log.flush() for log in logs))

    for number, log in enumerate(logs):
        events = await events_of(log.address)
        text = "".join(event["content"] for event in events)
        assert text == "".join(f"{number}.{round} " for round in range(10))


def test_a_throttle_lets_a_key_through_once_in_its_time() -> None:
    throttle = Throttle(60)

    assert throttle.allows("a")
    assert not throttle.allows("a")
    assert throttle.allows("b")
    assert Throttle(0).allows("a")
