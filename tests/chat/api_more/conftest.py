"""Clients of alice, of a stranger and of nobody."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from projects.models import Project
from tests.chat.support import make_run, make_session
from tests.conftest import LAB_ID

CHAT = f"/v3/projects/{LAB_ID}/chat"


@pytest.fixture
def hers(lab: Project, alice: User) -> Client:
    """Logged in as alice."""
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def his(bob: User) -> Client:
    """Logged in as bob, who has no role in the lab."""
    client = Client()
    client.force_login(bob)
    return client


@pytest.fixture
def answered(lab: Project, alice: User) -> ChatSession:
    """One finished round: question, answer with a call, its output, last answer."""
    return make_answered(alice, lab)


def make_answered(user: User, project: Project, **fields: Any) -> ChatSession:
    session = make_session(user, project, **{"title": "Why no ping?", **fields})
    run = make_run(session, status=Status.SUCCEEDED, round=1)
    calling = say(run, "Let me look.", role="assistant")
    run.tool_calls.create(
        message=calling, call_id="c1", name="run_commands", arguments='{"devices":[]}'
    )
    say(run, '{"devices": []}', role="tool", name="run_commands", tool_call_id="c1")
    say(run, "The gateway is wrong.", role="assistant")
    return session


def say(run: Run, text: str, **fields: Any) -> Message:
    return Message.objects.create(
        session=run.session,
        run=run,
        round=run.round,
        sequence=run.messages.count() + 1,
        content=text,
        **fields,
    )


def queries(act: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as seen:
        act()
    return len(seen)
