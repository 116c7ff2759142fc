"""What the agentic chat's specification asks for and no other test shows."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.agent.checkpoints import Checkpoints
from chat.agent.grounded.evidence import collect, entry, tools_behind
from chat.agent.runner import Execution
from chat.events.address import RunAddress
from chat.events.reader import Batch, follow
from chat.models import Message, Run
from tests.chat.grounded_support import Site, grounded_run
from tests.chat.support import claimed, db, events_of, loaded, until
from tests.conftest import Valkey
from tests.fakes.evidence import FakeDirectory, FakeKnowledge, document, record

QUESTION = "Which rooms does the library have?"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(monkeypatch)


@pytest.fixture
def run(alice: User, valkey: Valkey, site: Site) -> Run:
    return claimed(grounded_run(alice, QUESTION))


@pytest.fixture
async def checkpoints() -> Any:
    stores = Checkpoints()
    yield stores
    await stores.close()


async def executed(run: Run, checkpoints: Checkpoints) -> list[dict[str, Any]]:
    await Execution(run, checkpoints).execute()
    return await events_of(RunAddress.of(run))


def found(index: int, tool: str, *numbers: int, error: str = "") -> dict[str, Any]:
    passages = [document(f"text {n}", number=n).as_citation(n) for n in numbers]
    evidence = {"passages": passages, "facts": [f"fact {index}"]}
    output = json.dumps({"error": error})
    return entry(index, tool, {}, output, is_error=bool(error), evidence=evidence)


def test_evidence_is_that_of_all_good_steps_each_passage_once() -> None:
    trace = [found(0, "a", 1, 2), found(1, "b", 3, error="down"), found(2, "c", 2, 4)]

    evidence = collect(trace)

    assert [one["n"] for one in evidence.citations] == [1, 2, 4]
    assert evidence.facts == ("fact 0", "fact 2")
    assert [step["error"] for step in trace] == [None, "down", None]
    assert tools_behind(trace, evidence.citations[2:]) == ["c"]
    assert tools_behind(trace, evidence.citations[1:2]) == ["a", "c"]


@pytest.mark.needs("valkey")
async def test_the_question_is_stored_before_anything_is_planned(
    run: Run, site: Site, checkpoints: Checkpoints
) -> None:
    site.knowledge = FakeKnowledge()
    site.knowledge.hold = asyncio.Event()
    execution = asyncio.create_task(Execution(run, checkpoints).execute())

    await until(lambda: site.knowledge and site.knowledge.queries, "the search")
    stored = [message async for message in Message.objects.filter(run=run)]

    assert [message.role for message in stored][:2] == ["user", "assistant"]
    assert stored[0].content == QUESTION
    site.knowledge.hold.set()
    await execution


@pytest.mark.needs("valkey")
async def test_whoever_reads_at_done_finds_answer_citations_and_tools(
    run: Run, site: Site, checkpoints: Checkpoints
) -> None:
    site.directory = FakeDirectory(facilities=[record("Library: room 1", "Library")])
    site.knowledge = FakeKnowledge()
    seen: list[Message] = []

    async def watch() -> None:
        async for item in follow(RunAddress.of(run)):
            if isinstance(item, Batch) and item.is_last:
                done = json.loads(item.entries[-1].data)
                seen.append(await Message.objects.aget(pk=done["message_id"]))

    watching = asyncio.create_task(watch())
    await Execution(run, checkpoints).execute()
    async with asyncio.timeout(20):
        await watching

    (message,) = seen
    assert message.metadata["citations"][0]["id"] == "record:1"
    assert message.metadata["tools"] == ["lookup_facilities"]
    assert message.metadata["confidence"] in ("low", "medium", "high")
    assert message.metadata["supported"] is True


@pytest.mark.needs("valkey")
async def test_a_trace_entry_holds_all_and_is_stored_with_the_step(
    run: Run, site: Site, checkpoints: Checkpoints
) -> None:
    site.directory = FakeDirectory(facilities=[record("Library: room 1", "Library")])
    assert site.knowledge is not None
    site.knowledge.is_down = True

    events = await executed(run, checkpoints)

    steps = [event for event in events if event["type"] == "step"]
    plan = next(event for event in events if event["type"] == "plan")
    assert [(s["tool"], s["arguments"]) for s in steps] == [
        (s["tool"], s["arguments"]) for s in plan["steps"]
    ]
    assert [step["index"] for step in steps] == list(range(len(steps)))
    good, bad = steps[0], steps[-1]
    assert good["citations"][0]["id"] == "record:1"
    assert bad["status"] == "error"
    assert "cannot be searched" in bad["error"]
    assert bad["citations"] == []
    assert all(step["elapsed_ms"] >= 0 for step in steps)

    def rows() -> list[Any]:
        return list(loaded(run).tool_calls.order_by("position"))

    calls = await db(rows)()
    assert [call.status for call in calls][-1] == "failed"
    assert calls[0].evidence["passages"][0]["n"] == good["citations"][0]["n"]
