"""Answers that are none, and asking on after a decline."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from tests.chat.agent.conftest import Execute
from tests.chat.grounded_support import Site, grounded_run
from tests.chat.support import claimed, db, make_session
from tests.conftest import Valkey
from tests.fakes.evidence import document
from tests.fakes.provider import ScriptedProvider, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]

HOURS = "When does the library open?"
YES = json.dumps({"supported": True, "passages": [1], "confidence": 0.9})


def last(run: Run) -> Message:
    message = run.messages.order_by("sequence").last()
    assert message is not None
    return message


async def said(
    execute: Execute, alice: User, text: str, session: ChatSession | None = None
) -> tuple[Run, Message]:
    run = await execute(await db(claimed)(await db(grounded_run)(alice, text, session)))
    assert (run.status, run.error) == (Status.SUCCEEDED, "")
    return run, await db(last)(run)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([says("NO_EVIDENCE [1]")], ""),
        ([says("NO_EVIDENCE. The passage [1] is about hours.")], ""),
        ([says("", reason="content_filter")], "content_filter"),
        ([says("At ten", reason="length")], "length"),
    ],
)
async def test_what_is_no_answer_is_declined_and_says_why_it_ended(
    alice: User,
    valkey: Valkey,
    llm: LLMConfig,
    site: Site,
    execute: Execute,
    provider: ScriptedProvider,
    answers: list[Any],
    reason: str,
) -> None:
    site.directory = None
    provider.script(says(YES), *answers)

    run, message = await said(execute, alice, HOURS)

    assert not message.metadata["supported"]
    assert "NO_EVIDENCE" not in message.content
    assert run.reason == reason


async def test_what_else_finds_each_passage_once_also_after_a_decline(
    alice: User, valkey: Valkey, site: Site, execute: Execute
) -> None:
    site.directory = None
    assert site.knowledge is not None
    site.knowledge.passages = [document("The library opens at 8:00 on weekdays.")]
    session = await db(make_session)(alice, None)
    found = []
    for text in (HOURS, "What else?", "And more?", "What else?", "What else?"):
        _, message = await said(execute, alice, text, session)
        declined = message.metadata.get("declined", {}).get("reason")
        found.append(declined or [one["id"] for one in message.metadata["citations"]])
        if text == "And more?":
            later = document("The library opens at 10:00 on Sundays.", number=2)
            site.knowledge.passages.append(later)

    assert found == [
        ["passage:1"],
        "nothing_new",
        "nothing_new",
        ["passage:2"],
        "nothing_new",
    ]
