"""`/api/chat`: named events, conversations, and who may read them."""

import asyncio
import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from projects.models import Project
from tests.chat.api.conftest import BearerClient
from tests.chat.conftest import InProcessWorker
from tests.chat.grounded_support import Site, grounded_run
from tests.chat.support import db, make_session, until
from tests.conftest import LAB_ID, Valkey

pytestmark = pytest.mark.needs("valkey")

CHAT = "/api/chat"
HOURS = "When does the library open on Saturdays?"
NAMES = ["stage", "plan", "step", "citations", "token", "done"]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(monkeypatch)


@pytest.fixture
async def client(
    async_client: AsyncClient, site: Site, worker: InProcessWorker
) -> AsyncClient:
    return async_client


async def ask(client: AsyncClient, message: str = HOURS, **body: Any) -> Any:
    return await client.post(
        CHAT, json.dumps({"message": message, **body}), content_type="application/json"
    )


async def read(response: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """(id, name, data) of each frame; the form of every frame is checked."""
    assert response.status_code == 200, getattr(response, "content", b"")
    async with asyncio.timeout(30):
        body = b"".join([part async for part in response.streaming_content])
    found = []
    for frame in body.decode().split("\n\n")[:-1]:
        if frame.startswith(":"):
            continue
        head, name, data = frame.split("\n")
        assert head.startswith("id: ")
        assert name.startswith("event: ")
        assert data.startswith("data: ")
        found.append((head[4:], name[7:], json.loads(data[6:])))
    return found


def names(frames: list[tuple[str, str, dict[str, Any]]]) -> list[str]:
    return list(dict.fromkeys(name for _, name, _ in frames))


async def test_an_answer_comes_as_named_events_in_order(client: AsyncClient) -> None:
    response = await ask(client)
    frames = await read(response)

    assert response["Content-Type"] == "text/event-stream"
    assert names(frames) == NAMES
    assert frames[0][2]["session_id"] == response["X-Conversation-Id"]
    text = "".join(data["content"] for _, name, data in frames if name == "token")
    done = frames[-1][2]
    assert done["supported"] is True
    assert done["confidence"] in ("low", "medium", "high")
    assert [one["n"] for one in done["citations"]] == [1]
    message = await Message.objects.aget(pk=done["message_id"])
    assert message.content == text
    for cursor, name, data in frames:
        assert cursor == f"1.{data['seq']}"
        kind = "token" if name == "token" else name
        assert data["type"] == kind
        assert {"run_id", "session_id", "attempt", "timestamp"} <= set(data)


async def test_a_decline_has_no_token_and_no_error(client: AsyncClient) -> None:
    frames = await read(await ask(client, "Who won the chess tournament?"))

    assert names(frames) == ["stage", "plan", "step", "done"]
    done = frames[-1][2]
    assert (done["supported"], done["confidence"]) == (False, None)
    assert done["status"] == "succeeded"
    assert done["citations"] == []
    assert done["declined"]["looked_for"][-1]["tool"] == "search_documents"
    message = await Message.objects.aget(pk=done["message_id"])
    assert "chess" in message.content


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        "[]",
        "{}",
        '{"message": "  "}',
        '{"message": 7, "x": 1}',
        '{"message": "Hi", "conversation_id": "seven"}',
        '{"message": "Hi", "collections": "all"}',
        '{"message": "Hi", "profile": "nobody"}',
        '{"message": "Hi", "profile": "lab"}',
        '{"message": "Hi", "colections": []}',
    ],
)
async def test_what_is_not_valid_is_400_and_stores_nothing(
    client: AsyncClient, body: str
) -> None:
    response = await client.post(CHAT, body, content_type="application/json")

    assert response.status_code == 400, response.content
    assert set(response.json()) >= {"code", "message"}
    assert not await Run.objects.aexists()
    assert not await ChatSession.objects.aexists()


async def test_a_conversation_goes_on_and_is_listed_with_what_it_cites(
    client: AsyncClient,
) -> None:
    first = await ask(client)
    await read(first)
    key = first["X-Conversation-Id"]

    second = await read(await ask(client, "And on weekdays?", conversation_id=key))

    assert second[0][0].startswith("2.")
    assert second[-1][2]["supported"] is True
    (listed,) = (await client.get(f"{CHAT}/conversations")).json()
    assert (listed["conversation_id"], listed["project_id"]) == (key, None)
    shown = (await client.get(f"{CHAT}/conversations/{key}")).json()
    answers = [one for one in shown["messages"] if one["metadata"].get("citations")]
    assert len(answers) == 2
    assert "10:00" in answers[0]["metadata"]["citations"][0]["text"]


async def test_events_can_be_read_again_from_a_cursor(client: AsyncClient) -> None:
    response = await ask(client)
    frames = await read(response)
    path = f"{CHAT}/conversations/{response['X-Conversation-Id']}/events"

    for at in (0, 2, len(frames) - 2):
        headers = {"Last-Event-ID": frames[at][0]}
        assert await read(await client.get(path, headers=headers)) == frames[at + 1 :]
    end = await client.get(path, headers={"Last-Event-ID": frames[-1][0]})
    assert end.status_code == 204


async def test_a_stop_ends_it_and_keeps_the_steps(
    client: AsyncClient, site: Site, worker: InProcessWorker
) -> None:
    assert site.knowledge is not None
    site.knowledge.hold = asyncio.Event()
    response = await ask(client, "What about the canteen menu?")
    key = response["X-Conversation-Id"]
    await until(lambda: site.knowledge and site.knowledge.queries, "the search")

    stopped = await client.post(f"{CHAT}/conversations/{key}/stop")

    assert stopped.json() == {"stopped": True}
    frames = await read(response)
    assert [name for _, name, _ in frames][-2:] == ["stopped", "done"]
    assert frames[-1][2]["status"] == "stopped"
    assert frames[-1][2]["supported"] is None


async def test_deleting_removes_the_conversation(client: AsyncClient) -> None:
    response = await ask(client)
    await read(response)
    path = f"{CHAT}/conversations/{response['X-Conversation-Id']}"

    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404
    assert (await client.get(f"{CHAT}/conversations")).json() == []


async def test_collections_are_recorded_with_the_run(client: AsyncClient) -> None:
    await read(await ask(client, collections=["Campus"]))

    run = await Run.objects.aget()
    assert run.options == {"collections": ["Campus"]}
    assert (run.agent, run.profile) == ("grounded", "campus")


async def test_a_question_may_belong_to_a_project(
    client: AsyncClient, lab: Project
) -> None:
    response = await ask(client, project_id=LAB_ID)
    await read(response)
    key = response["X-Conversation-Id"]

    await read(await ask(client, conversation_id=key))

    session = await ChatSession.objects.aget(thread_id=key)
    assert session.project_id == lab.pk
    other = await ask(client, conversation_id=key, project_id=str(uuid.uuid4()))
    assert other.status_code == 404


@pytest.fixture
async def bobs(
    bob: User, alice: User, site: Site, valkey: Valkey
) -> tuple[AsyncClient, str]:
    def made() -> str:
        session = make_session(alice, None)
        grounded_run(alice, HOURS, session, status=Status.SUCCEEDED)
        return session.thread_id

    return BearerClient(bob), await db(made)()


async def test_a_stranger_finds_nothing(bobs: tuple[AsyncClient, str]) -> None:
    client, key = bobs
    path = f"{CHAT}/conversations/{key}"

    assert (await client.get(f"{CHAT}/conversations")).json() == []
    for response in (
        await client.get(path),
        await client.delete(path),
        await client.post(f"{path}/stop"),
        await client.get(f"{path}/events"),
        await ask(client, conversation_id=key),
    ):
        assert response.status_code == 404, response.content
    assert await Run.objects.acount() == 1


async def test_a_strangers_project_is_not_found(
    bobs: tuple[AsyncClient, str], lab: Project
) -> None:
    client, _ = bobs

    assert (await ask(client, project_id=LAB_ID)).status_code == 404


async def test_nobody_is_asked_to_log_in(transactional_db: None) -> None:
    async_client = AsyncClient()
    for response in (
        await ask(async_client),
        await async_client.get(f"{CHAT}/conversations"),
    ):
        assert response.status_code == 401


async def test_a_projects_session_takes_a_grounded_profile_too(
    client: AsyncClient, lab: Project
) -> None:
    path = f"/v3/projects/{LAB_ID}/chat"
    body = json.dumps({"message": HOURS, "profile": "campus"})
    response = await client.post(
        f"{path}/stream", body, content_type="application/json"
    )
    async with asyncio.timeout(30):
        text = b"".join([part async for part in response.streaming_content]).decode()
    events = [json.loads(line[6:]) for line in text.split("\n") if line[:6] == "data: "]

    assert "event:" not in text
    assert [one for one in events if one["type"] == "content"]
    done = events[-1]
    assert (done["type"], done["supported"]) == ("done", True)
    session_id = done["session_id"]
    history = (await client.get(f"{path}/sessions/{session_id}/history")).json()
    assert history["messages"][-1]["metadata"]["citations"] == done["citations"]
