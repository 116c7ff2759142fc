"""Asking about the invented campus without a model: cited, or declined."""

from datetime import datetime
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from langchain_core.messages import HumanMessage

from bench.grounding.pipeline import Journal
from chat.agent.grounded.graph import build_grounded_graph
from chat.agent.grounded.state import GroundedContext
from chat.agent.state import current_kit
from chat.agent.tools import offered
from chat.agent.tools.kit import Kit
from chat.demo.loading import load_campus
from chat.directory.lookup import Records
from chat.knowledge.service import knowledge_for
from chat.knowledge.tasks import ingest_waiting
from chat.profiles.active import profile_for
from copilot_site.lib.orm import in_orm_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kit(alice: User, monkeypatch: pytest.MonkeyPatch) -> Kit:
    # There is no worker that could be woken.
    monkeypatch.setattr("chat.documents.wake._submit", lambda task: None)
    (settings.DATA_DIR / "demo-campus").unlink(missing_ok=True)
    load_campus()
    ingest_waiting()
    return Kit(knowledge=knowledge_for(alice, None), directory=Records(alice, None))


async def ask(question: str, kit: Kit) -> Any:
    profile = await in_orm_thread(profile_for)("campus")
    journal = Journal()
    context = GroundedContext(
        journal=journal,  # type: ignore[arg-type] # what a plan needs of one
        grounded=journal,
        tools=offered(profile.tools, kit),
        system_prompt=_prompt,
        step_limit=25,
        output_limit=20_000,
        now=datetime(2026, 10, 12, 9, 0),
    )
    token = current_kit.set(kit)
    try:
        await build_grounded_graph().ainvoke(
            {"messages": [HumanMessage(question)], "trace": [], "verdict": {}},
            context=context,
        )
    finally:
        current_kit.reset(token)
    return journal.outcome


async def _prompt() -> str:
    return ""


async def test_the_campus_is_cited_and_questions_beside_it_are_declined(
    kit: Kit,
) -> None:
    for question, source, said in (
        ("Which courses are there?", "Course NET101 Computer Networks", "SEC310"),
        ("Where is the networking lab?", "Room T1.20 Networking lab", "Turing"),
        ("What does a parking permit cost?", "Campus-guide.pdf", "70 pounds"),
    ):
        answer = await ask(question, kit)

        assert answer.is_supported, question
        assert source in [citation["title"] for citation in answer.citations]
        assert said in answer.text

    for question in (
        "How high is Mount Everest?",
        "What is the salary of Prof. Marlow?",
    ):
        answer = await ask(question, kit)

        assert not answer.is_supported, question
        assert answer.citations == ()
