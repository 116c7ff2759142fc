"""Case files that concern the agent, run as it runs them: rows, events, real graph."""

import json
from pathlib import Path
from typing import Any

import pytest

from chat.events.address import RunAddress
from chat.models import ChatSession, Message
from chat.models.run import Status
from tests.chat.support import (
    events_of,
    text_of,
)
from tests.providers.agent import Probe, ask, rows_of
from tests.providers.case import FOLDER, load
from tests.providers.conftest import KEY
from tests.providers.replay import Replay, calls_of, is_title, says

LOOPS = [path for path in sorted(FOLDER.glob("*.yaml")) if load(path).loop]


@pytest.mark.needs("valkey")
@pytest.mark.parametrize("path", LOOPS, ids=lambda path: path.stem)
async def test_case_goes_through_the_agent_as_its_file_says(
    path: Path, session: ChatSession, replay: Replay, probe: Probe
) -> None:
    case = load(path)
    expect = case.loop or {}
    replay.script(*case.answers, *([] if len(case.answers) > 1 else _then(case)))

    run = await ask(session, "Why? " * (20_000 if "long_question" in expect else 1))

    assert run.status == expect["status"], (run.error, replay.faults)
    assert run.error_code == expect.get("error", "")
    rows = await rows_of(run)
    told = [(row.role, row.content) for row in rows]
    for (role, words), row in zip(expect.get("rows", []), _wanted(rows), strict=False):
        assert (row.role, words in row.content) == (role, True), told
    if "rows" in expect:
        assert len(_wanted(rows)) == len(expect["rows"]), told
    if "ran" in expect:
        assert probe.count == expect["ran"]
    if "requests" in expect:
        assert len(replay.bodies) == expect["requests"]
    if "finish_reason" in expect:
        assert run.reason == expect["finish_reason"]
        assert rows[-1].finish_reason == expect["finish_reason"]
    if "unique_ids" in expect:
        ids = [call["id"] for call in calls_of(replay.bodies[-1])]
        assert len(set(ids)) == len(ids) == expect["unique_ids"]
    if "longest_id" in expect:
        ids = [call["id"] for call in calls_of(replay.bodies[-1])]
        assert max(map(len, ids)) <= expect["longest_id"]
    if "longest_request" in expect:
        longest = max(len(json.dumps(body)) for body in replay.bodies)
        assert longest <= expect["longest_request"]
    if "tokens" in expect:
        total = None if run.input_tokens is None else run.input_tokens
        total = None if total is None else total + (run.output_tokens or 0)
        assert total == expect["tokens"]
    events = await events_of(RunAddress.of(run))
    assert [event["type"] for event in events][-1] == "done"
    assert KEY not in json.dumps(events)
    if "warns" in expect:
        lines = [event["text"] for event in events if event["type"] == "log"]
        assert any(expect["warns"] in line for line in lines), lines
    if "told" in expect:
        assert text_of(events) == expect["told"]
    if "finish_reason" in expect:
        assert events[-1]["reason"] == expect["finish_reason"]
    await _next_question_is_answered(session, replay, case)


def _then(case: Any) -> list[Any]:
    """After calls comes an answer; a case of one answer is about that one."""
    repeats = "requests" in (case.loop or {}) or not case.expect.get("calls")
    return [] if repeats else [says("Fine.")]


def _wanted(rows: list[Message]) -> list[Message]:
    """Without the turns that hold nothing but calls."""
    is_blank = [row.role == Message.Role.ASSISTANT and not row.content for row in rows]
    return [row for row, blank in zip(rows, is_blank, strict=True) if not blank]


async def _next_question_is_answered(
    session: ChatSession, replay: Replay, case: Any
) -> None:
    """Whatever happened: the strictest provider takes what the session holds now."""
    replay.faults.clear()
    replay.script(says("Still here.", demands=case.answers[-1].demands))

    run = await ask(session, "hello?")

    assert run.status == Status.SUCCEEDED, (run.error, replay.faults)
    assert (await rows_of(run))[-1].content == "Still here."
    assert not is_title(replay.bodies[-1])
