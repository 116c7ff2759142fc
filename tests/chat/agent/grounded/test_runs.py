"""Grounded runs through the one engine, without a model."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.events.address import RunAddress
from chat.models import Message, Run
from chat.models.run import Status
from tests.chat.agent.conftest import Execute
from tests.chat.grounded_support import Site, grounded_run
from tests.chat.support import claimed, db, events_of, kinds, text_of
from tests.conftest import Valkey
from tests.fakes.evidence import FakeKnowledge, document

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]

HOURS = "When does the library open on Saturdays?"


async def answered(
    execute: Execute, user: User, text: str, session: Any = None
) -> tuple[Run, list[dict[str, Any]]]:
    run = await db(lambda: claimed(grounded_run(user, text, session)))()
    run = await execute(run)
    return run, await events_of(RunAddress.of(run))


def turns(run: Run) -> list[Message]:
    return list(run.messages.order_by("sequence"))


async def test_a_supported_answer_cites_and_comes_in_order(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    run, events = await answered(execute, alice, HOURS)

    assert run.status == Status.SUCCEEDED, run.error
    order = [
        kind
        for kind in dict.fromkeys(kinds(events))
        if kind in ("stage", "plan", "step", "citations", "content", "done")
    ]
    assert order == ["stage", "plan", "step", "citations", "content", "done"]
    rows = await db(turns)(run)
    assert rows[0].role == "user"
    assert rows[-1].role == "assistant"
    assert rows[-1].content == text_of(events)
    assert "10:00" in rows[-1].content
    assert "[1]" in rows[-1].content
    metadata = rows[-1].metadata
    assert metadata["supported"] is True
    assert [one["id"] for one in metadata["citations"]] == ["passage:1"]
    assert metadata["tools"] == ["search_documents"]
    assert metadata["confidence"] in ("low", "medium", "high")
    done = events[-1]
    assert done["supported"] is True
    assert done["message_id"] == str(rows[-1].pk)
    assert done["citations"] == metadata["citations"]


async def test_an_unsupported_question_is_declined_without_a_word(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    run, events = await answered(execute, alice, "Who won the chess tournament?")

    assert run.status == Status.SUCCEEDED
    assert "content" not in kinds(events)
    assert "error" not in kinds(events)
    done = events[-1]
    assert done["supported"] is False
    assert done["declined"]["nearest"][0]["id"] == "passage:1"
    rows = await db(turns)(run)
    assert "chess" in rows[-1].content
    assert "Library guide" in rows[-1].content


async def test_a_failing_tool_keeps_what_others_found(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    assert site.directory is not None
    site.directory.is_down = True

    run, events = await answered(execute, alice, HOURS)

    assert run.status == Status.SUCCEEDED
    steps = [event for event in events if event["type"] == "step"]
    assert [step["status"] for step in steps] == ["error"] * (len(steps) - 1) + ["ok"]
    assert "directory cannot be read" in steps[0]["error"]
    assert all(isinstance(step["elapsed_ms"], int) for step in steps)
    assert events[-1]["supported"] is True
    assert json.loads(steps[-1]["result"])["passages"][0]["cite"] == "[1]"


async def test_nothing_to_look_in_is_a_decline(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    site.knowledge = site.directory = site.memory = None

    run, events = await answered(execute, alice, HOURS)

    assert run.status == Status.SUCCEEDED
    assert events[-1]["supported"] is False
    (plan,) = [event for event in events if event["type"] == "plan"]
    assert plan["steps"] == []


async def test_steps_do_not_overlap(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    site.knowledge = FakeKnowledge(document("The canteen closes at 14:00."))

    await answered(
        execute,
        alice,
        "When does the canteen close today? And when does the library open?",
    )

    assert len(site.knowledge.queries) == 2
    assert site.knowledge.most_running == 1
