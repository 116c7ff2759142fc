"""A project is closed, then deleted, in the middle of its copilot's answer."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.fakes.provider import ScriptedProvider, says
from tests.faults.saying import counts_to
from tests.stack import Stack, eventually
from tests.stack_client import follow, texts, words

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@pytest.fixture
def model() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(params=["sqlite", "postgres"])
def stack(
    request: pytest.FixtureRequest,
    model: ScriptedProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    env = {
        "LLM_BASE_URL": model.url,
        "LLM_MODEL": "scripted",
        "PROJECT_RETENTION_DAYS": "0",
    }
    folder = tmp_path_factory.mktemp("projects-end")
    with Stack(folder, database=request.param, env=env) as stack:
        yield stack


async def test_closing_stops_the_answer_and_deleting_leaves_only_the_ledger(
    stack: Stack, model: ScriptedProvider
) -> None:
    path = f"/v3/projects/{stack.project_id}"
    model.script(counts_to(1000))
    started = await asyncio.to_thread(stack.post, "Count.")
    session_id = started["session_id"]
    waiting = await asyncio.to_thread(
        stack.post, "And then?", session_id=session_id, multitask_strategy="enqueue"
    )
    await follow(stack, session_id, until=words(5))

    closed = await asyncio.to_thread(stack.call, "POST", f"{path}/close")
    events = await follow(stack, session_id)
    refused = await asyncio.to_thread(
        stack.call, "POST", "/stream", json={"message": "Still there?"}
    )
    runs = stack.call("GET", f"/sessions/{session_id}/runs").json()

    assert closed.json()["status"] == "closed"
    assert (events[-1]["status"], events[-1]["reason"]) == ("stopped", "project_closed")
    assert "w5" in "".join(texts(events).values())
    assert (refused.status_code, refused.json()["code"]) == (403, "project_not_opened")
    assert {run["id"]: run["status"] for run in runs} == {
        started["run_id"]: "stopped",
        waiting["run_id"]: "stopped",
    }

    await asyncio.to_thread(stack.call, "POST", f"{path}/open")
    model.script(says("Here again."))
    await asyncio.to_thread(stack.post, "Hello?", session_id=session_id)
    assert (await follow(stack, session_id, after="2.9"))[-1]["status"] == "succeeded"

    make_owner(stack)
    gone = await asyncio.to_thread(stack.call, "DELETE", path)
    hidden = await asyncio.to_thread(stack.call, "GET", "/sessions")
    await asyncio.to_thread(eventually, lambda: count(stack, "project") == 0, "purged")

    assert (gone.status_code, hidden.status_code) == (204, 404)
    assert count(stack, "session") == 0
    assert stack.rows("SELECT count(*) FROM chat_llmcall")[0][0] >= 2
    (record,) = stack.rows("SELECT deleted_by FROM projects_purgedproject")
    assert record == ("demo",)
    assert not list((stack.data_dir / "projects").glob(f"{path.split('/')[-1]}/*"))


def count(stack: Stack, what: str) -> int:
    table = {"project": "projects_project", "session": "chat_chatsession"}[what]
    number: int = stack.rows(f"SELECT count(*) FROM {table}")[0][0]
    return number


def make_owner(stack: Stack) -> None:
    stack.rows(
        "INSERT INTO projects_membership (project_id, user_id, role) "
        "SELECT p.id, u.id, 'owner' FROM projects_project p, auth_user u "
        "WHERE u.username = 'demo'"
    )
