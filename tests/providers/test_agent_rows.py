"""Known faults of agents that no single answer shows: stops, growth, counts."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from chat.agent.checkpoints import Checkpoints, strict_serializer
from chat.events.address import RunAddress
from chat.models import ChatSession, LLMCall, Message, ToolCall
from chat.models.run import Status
from tests.chat.support import db, events_of, kinds, loaded, logged, until
from tests.conftest import LAB_ID
from tests.providers.agent import Probe, ask, rows_of, started
from tests.providers.case import FOLDER, load
from tests.providers.replay import Answer, Replay, event, reason, says, text

pytestmark = pytest.mark.needs("valkey")


def calls(*arguments: str) -> Answer:
    """A call of the tool `probe` for each of these."""
    wanted = [
        {
            "index": index,
            "id": f"call_{index}",
            "function": {"name": "probe", "arguments": json.dumps({"at": at})},
        }
        for index, at in enumerate(arguments)
    ]
    chunk = {"choices": [{"delta": {"tool_calls": wanted}}]}
    return Answer([event(chunk), reason("tool_calls")])


async def test_stop_while_a_tool_runs_leaves_no_open_call(
    session: ChatSession, replay: Replay, probe: Probe
) -> None:
    replay.script(calls("sleep", ""))
    run, execution, checkpoints = await started(session)
    task = asyncio.create_task(execution.execute())
    running = ToolCall.objects.filter(run=run, status=ToolCall.Status.RUNNING)
    await until(running.exists, "the tool runs")

    execution.stop("user")
    await asyncio.wait_for(task, 20)
    await checkpoints.close()

    run = await db(loaded)(run)
    assert run.status == Status.STOPPED
    assert not await ToolCall.objects.filter(run=run, result=None).aexists()
    replay.script(says("Hello again."))
    later = await ask(session, "hello?")
    assert later.status == Status.SUCCEEDED, replay.faults
    results = [m for m in replay.bodies[-1]["messages"] if m["role"] == "tool"]
    assert len(results) == 2
    assert any("ancelled" in result["content"] for result in results)


async def test_stop_in_the_middle_of_an_answer_keeps_it_and_the_next_turn_works(
    session: ChatSession, replay: Replay
) -> None:
    replay.script(Answer([text("The cause is"), "stall"]))
    run, execution, checkpoints = await started(session)
    task = asyncio.create_task(execution.execute())

    await until(lambda: "content" in kinds(logged(run)), "the answer begins")
    execution.stop("user")
    await asyncio.wait_for(task, 20)
    await checkpoints.close()

    [row] = await rows_of(run)
    assert (row.content, row.is_partial) == ("The cause is", True)
    replay.script(says("Hello again."))
    assert (await ask(session, "hello?")).status == Status.SUCCEEDED, replay.faults


async def test_thirty_rounds_leave_no_checkpoints_behind(
    session: ChatSession, replay: Replay
) -> None:
    replay.script(says("x" * 4_000))

    for number in range(30):
        run = await ask(session, f"Question {number}?")
        assert run.status == Status.SUCCEEDED, run.error

    stores = Checkpoints()
    async with stores.of(LAB_ID) as saver:
        left = [item async for item in saver.alist(None)]
    await stores.close()
    assert left == []


async def test_history_is_cut_only_between_rounds(
    session: ChatSession, replay: Replay, probe: Probe, settings: Any
) -> None:
    for limit in range(2, 9):
        settings.HISTORY_MESSAGES = limit
        replay.script(calls("", ""), says("Fine."))

        run = await ask(session, f"With {limit}?")

        assert run.status == Status.SUCCEEDED, replay.faults
        assert replay.faults == []


async def test_text_comes_in_more_than_one_piece_and_once(
    session: ChatSession, replay: Replay
) -> None:
    words = [part for word in "abcd" for part in (text(word), 0.1)]
    replay.script(Answer([*words, reason("stop")]))

    run = await ask(session)

    told = [e for e in await events_of(RunAddress.of(run)) if e["type"] == "content"]
    assert len(told) > 1
    assert "".join(piece["content"] for piece in told) == "abcd"
    assert len({piece["message_id"] for piece in told}) == 1


async def test_call_is_told_by_name_and_under_one_id(
    session: ChatSession, replay: Replay
) -> None:
    for name in ("name_comes_late", "call_id_comes_late", "calls_all_at_index_0"):
        replay.script(*load(FOLDER / f"{name}.yaml").answers, says("Fine."))

        run = await ask(session)

        events = await events_of(RunAddress.of(run))
        told = [event for event in events if event["type"] == "tool_call"]
        names = {event["tool_call"]["function"]["name"] for event in told}
        assert "" not in names
        ids = {event["tool_call_id"] for event in told}
        stored = ToolCall.objects.filter(run=run).values_list("call_id", flat=True)
        assert ids == {call_id async for call_id in stored}
        ended = {e["tool_call_id"] for e in events if e["type"] == "tool_end"}
        assert ended == ids
        complete = [e for e in told if e["tool_call"]["function"].get("complete")]
        assert len(complete) == len(ids)


async def test_tokens_are_counted_once_whatever_traces(
    session: ChatSession, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for tracing in ("false", "true"):
        monkeypatch.setenv("LANGSMITH_TRACING", tracing)
        monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
        replay.script(*load(FOLDER / "usage_in_every_chunk.yaml").answers)

        run = await ask(session)

        events = await events_of(RunAddress.of(run))
        told = [e["content"] for e in events if e["type"] == "content"]
        asked = await LLMCall.objects.filter(run=run).acount()
        counts.append((run.input_tokens, run.output_tokens, "".join(told), asked))
    assert counts == [(10, 3, "ab", 1), (10, 3, "ab", 1)]


async def test_reasoning_is_never_the_answer(
    session: ChatSession, replay: Replay, probe: Probe
) -> None:
    replay.script(*load(FOLDER / "reasoning_demanded.yaml").answers)

    run = await ask(session)

    events = await events_of(RunAddress.of(run))
    said = "".join(e["content"] for e in events if e["type"] == "content")
    thought = "".join(e["content"] for e in events if e["type"] == "reasoning")
    assert said == "Fine."
    assert thought == "Look first."
    rows = Message.objects.filter(run=run, content__contains="Look first")
    assert not await rows.aexists()


@dataclass
class Own:
    """As some later version might have called otherwise."""

    field: int = 1


def test_stored_types_of_ours_do_not_come_back_as_something_else() -> None:
    """State is messages and primitives: nothing else is made from a checkpoint."""
    serializer = strict_serializer()
    message = HumanMessage("Why?", id="1")

    assert serializer.loads_typed(serializer.dumps_typed([message])) == [message]
    assert not isinstance(serializer.loads_typed(serializer.dumps_typed(Own())), Own)
