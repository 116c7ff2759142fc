"""Case files that concern the agent, run as it runs them: rows, events, real graph."""

import datetime
import decimal
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pydantic import Field

from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.agent.tools import TOOLS
from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.lab import Lab
from chat.events.address import RunAddress
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from llmconfig import clients
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.support import (
    claimed,
    db,
    events_of,
    loaded,
    make_run,
    make_session,
    text_of,
)
from tests.conftest import Valkey
from tests.providers.case import FOLDER, load
from tests.providers.conftest import KEY
from tests.providers.replay import Replay, calls_of, is_title, says

LOOPS = [path for path in sorted(FOLDER.glob("*.yaml")) if load(path).loop]


class ProbeArguments(ToolArguments):
    at: str = Field(default="", description="What to return.")
    number: int = 0


class Probe:
    """A tool that returns, or raises, what real ones have."""

    def __init__(self) -> None:
        self.count = 0

    async def run(self, arguments: ProbeArguments, lab: Lab) -> Any:
        self.count += 1
        match arguments.at:
            case "huge":
                return "x" * 2_000_000
            case "parts":
                return [{"type": "text", "text": "r"}]
            case "odd":
                moment = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
                values = [moment, uuid.uuid4(), {1}, decimal.Decimal(1), b"\xff"]
                return {"values": values, "large": 2**70, 5: "\ud83d\x00"}
            case "raise":
                raise ValueError("device unreachable")
        return "done"

    def tool(self) -> Tool[ProbeArguments]:
        return Tool("probe", "For tests.", ProbeArguments, self.run)


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe:
    probe = Probe()
    monkeypatch.setitem(TOOLS, "probe", probe.tool())
    return probe


@pytest.fixture
def session(
    lab: Project, alice: User, replay: Replay, valkey: Valkey, settings: Any
) -> Iterator[ChatSession]:
    settings.STEP_LIMIT = 4
    # The pool of connections belongs to one loop; each test has its own.
    clients._http.cache_clear()
    LLMConfig.objects.create(
        name="Replay", base_url=replay.url, model="replayed", api_key=KEY
    )
    yield make_session(alice, lab, title="Named")
    clients._http.cache_clear()


async def ask(session: ChatSession, text: str = "Why?") -> Run:
    """Ask, and let this process be the worker."""
    run = await db(make_run)(session, text=text)
    run = await db(claimed)(run)
    checkpoints = Checkpoints()
    try:
        await Execution(run, checkpoints).execute()
    finally:
        await checkpoints.close()
    return await db(loaded)(run)


async def rows_of(run: Run) -> list[Message]:
    rows = Message.objects.filter(run=run).exclude(role=Message.Role.USER)
    return [row async for row in rows.order_by("sequence")]


@pytest.mark.needs("valkey")
@pytest.mark.parametrize("path", LOOPS, ids=lambda path: path.stem)
async def test_case_goes_through_the_agent_as_its_file_says(
    path: Path, session: ChatSession, replay: Replay, probe: Probe
) -> None:
    case = load(path)
    expect = case.loop or {}
    replay.script(*case.answers, *([] if len(case.answers) > 1 else _then(case)))

    run = await ask(session)

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
