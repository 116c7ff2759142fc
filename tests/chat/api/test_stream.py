import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from chat.agent.tools.base import Tool, ToolArguments
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.conftest import InProcessWorker
from tests.chat.support import db, kinds, make_run, text_of, use_tools
from tests.conftest import LAB_ID, OTHER_LAB_ID, Valkey
from tests.fakes.provider import ScriptedProvider, calls, fails, says, stalls

pytestmark = pytest.mark.needs("valkey")

STREAM = reverse("stream", kwargs={"project_id": LAB_ID})


class Wanted(ToolArguments):
    x: int = 0


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(arguments: Wanted, kit: Any) -> dict[str, int]:
        return {"got": arguments.x}

    use_tools(monkeypatch, {"look": Tool("look", "", Wanted, run)})


async def post(client: AsyncClient, body: Any, **headers: str) -> Any:
    data = body if isinstance(body, (str, bytes)) else json.dumps(body)
    names = {key.replace("_", "-"): value for key, value in headers.items()}
    return await client.post(
        STREAM, data, content_type="application/json", headers=names
    )


def frames_of(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """(id, event) of each numbered frame; the form of every frame is checked."""
    found = []
    for frame in body.decode().split("\n\n")[:-1]:
        lines = frame.split("\n")
        if lines[0].startswith("id: "):
            head, data = lines
            assert data.startswith("data: ")
            found.append((head[4:], json.loads(data[6:])))
        else:
            assert lines[0].startswith(("data: ", ":"))
    return found


async def body_of(response: Any) -> bytes:
    async with asyncio.timeout(30):
        return b"".join([part async for part in response.streaming_content])


async def events_of(response: Any) -> list[dict[str, Any]]:
    return [event for _, event in frames_of(await body_of(response))]


@pytest.fixture
def ready(
    lab: Project, llm: LLMConfig, worker: InProcessWorker, tools: None
) -> Project:
    return lab


async def test_an_answer_streams_until_done(
    ready: Project, async_client: AsyncClient, provider: ScriptedProvider
) -> None:
    provider.script(says("PC1 has no gateway."))

    response = await post(async_client, {"message": "Why?"})

    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-cache"
    frames = frames_of(await body_of(response))
    events = [event for _, event in frames]
    assert text_of(events) == "PC1 has no gateway."
    assert [cursor for cursor, _ in frames] == [f"1.{e['seq']}" for e in events]
    assert kinds(events)[:2] == ["attempt", "message"]
    assert events[1]["message"]["content"] == "Why?"
    assert kinds(events)[-1] == "done"
    assert kinds(events).count("done") == 1


async def test_two_parallel_tool_calls_stream_by_their_ids(
    ready: Project, async_client: AsyncClient, provider: ScriptedProvider
) -> None:
    provider.script(
        calls(("look", {"x": 1}), ("look", {"x": 2}), ids=["a", "b"]), says("Both.")
    )

    events = await events_of(await post(async_client, {"message": "Why?"}))

    for call_id, number in (("a", 1), ("b", 2)):
        mine = [event for event in events if event.get("tool_call_id") == call_id]
        assert list(dict.fromkeys(kinds(mine))) == [
            "tool_call",
            "tool_start",
            "tool_end",
        ]
        written = [e["tool_call"] for e in mine if e["type"] == "tool_call"]
        assert {call["id"] for call in written} == {call_id}
        assert {call["function"]["name"] for call in written} == {"look"}
        texts = [call["function"]["arguments"] for call in written]
        assert texts[0] == ""
        assert all(b.startswith(a) for a, b in zip(texts, texts[1:], strict=False))
        assert json.loads(texts[-1]) == {"x": number}
        assert written[-1]["function"]["complete"] is True
        assert json.loads(mine[-1]["tool_output"]) == {"got": number}
        assert mine[-1]["status"] == "ok"


async def test_without_a_stream_the_answer_is_json(
    ready: Project, async_client: AsyncClient, provider: ScriptedProvider
) -> None:
    provider.script(says("All fine.", usage=(7, 3)))

    response = await post(async_client, {"message": "Why?", "stream": False})

    body = response.json()
    assert (response.status_code, body["status"]) == (200, "succeeded")
    assert body["content"] == "All fine."
    assert [m["role"] for m in body["messages"]] == ["user", "assistant"]
    assert body["usage"]["output_tokens"] >= 3


async def test_without_a_stream_a_failure_has_its_code(
    ready: Project, async_client: AsyncClient, provider: ScriptedProvider
) -> None:
    provider.script(fails(401, {"error": {"message": "no"}}))

    response = await post(async_client, {"message": "Why?", "stream": False})

    body = response.json()
    assert (body["status"], body["code"]) == ("failed", "model_key_refused")
    assert body["error"]


async def test_who_prefers_not_to_wait_gets_an_address(
    ready: Project, async_client: AsyncClient, worker: InProcessWorker
) -> None:
    response = await post(async_client, {"message": "Why?"}, Prefer="respond-async")

    assert response.status_code == 202
    assert response["Preference-Applied"] == "respond-async"
    body = response.json()
    assert body["round"] == 1
    events = await events_of(await async_client.get(response["Location"]))
    assert events[-1]["type"] == "done"
    assert {event["run_id"] for event in events} == {body["run_id"]}


async def test_an_event_stream_goes_on_at_the_cursor_and_ends_with_204(
    ready: Project, async_client: AsyncClient, worker: InProcessWorker
) -> None:
    first = frames_of(await body_of(await post(async_client, {"message": "Why?"})))
    await worker.finish()
    session_id = first[0][1]["session_id"]
    where = reverse(
        "session-events", kwargs={"project_id": LAB_ID, "session_id": session_id}
    )
    cursor = first[2][0]

    by_header = await async_client.get(where, headers={"Last-Event-ID": cursor})
    by_query = await async_client.get(f"{where}?after={cursor}")
    other_round = await async_client.get(f"{where}?after=7.3")
    at_end = await async_client.get(f"{where}?after={first[-1][0]}")

    assert frames_of(await body_of(by_header)) == first[3:]
    assert frames_of(await body_of(by_query)) == first[3:]
    assert frames_of(await body_of(other_round)) == first
    assert at_end.status_code == 204


async def test_a_session_without_a_run_has_no_events(
    session: ChatSession, async_client: AsyncClient
) -> None:
    where = reverse(
        "session-events",
        kwargs={"project_id": LAB_ID, "session_id": session.thread_id},
    )

    assert (await async_client.get(where)).status_code == 204


async def test_a_repeated_request_joins_the_first(
    ready: Project, async_client: AsyncClient
) -> None:
    one = await events_of(
        await post(async_client, {"message": "?"}, Idempotency_Key="k")
    )
    two = await events_of(
        await post(async_client, {"message": "?"}, Idempotency_Key="k")
    )

    assert one == two
    assert await Message.objects.filter(role="user").acount() == 1


async def test_temperature_and_tokens_reach_the_model(
    ready: Project, async_client: AsyncClient, provider: ScriptedProvider
) -> None:
    body = {"message": "?", "temperature": 0.25, "max_tokens": 77, "stream": False}

    await post(async_client, body)

    sent = provider.requests[0].body
    assert (sent["temperature"], sent["max_tokens"]) == (0.25, 77)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "message"),
        ({"message": ""}, "message"),
        ({"message": "\x00"}, "message"),
        ({"message": " "}, "message"),
        ({"message": None}, "message"),
        ({"message": ["x"]}, "message"),
        ({"message": "x" * 100_001}, "message"),
        ({"message": "x", "session_id": "undefined"}, "session_id"),
        ({"message": "x", "temperature": 2.1}, "temperature"),
        ({"message": "x", "temperature": -0.1}, "temperature"),
        ({"message": "x", "max_tokens": 0}, "max_tokens"),
        ({"message": "x", "mode": "voice"}, "mode"),
        ({"message": "x", "multitask_strategy": "queue"}, "multitask_strategy"),
        ({"message": "x", "stream": "maybe"}, "stream"),
    ],
)
async def test_what_does_not_validate_is_422_and_stores_nothing(
    lab: Project, async_client: AsyncClient, body: Any, field: str
) -> None:
    response = await post(async_client, body)

    assert response.status_code == 422
    assert response.json()["code"] == "validation_error"
    assert response.json()["errors"][0]["field"] == field
    assert not await ChatSession.objects.aexists()


@pytest.mark.parametrize("body", ["", "{", "[]", '"x"', "\xff", "null", "[" * 100_000])
async def test_what_is_no_json_object_is_refused(
    lab: Project, async_client: AsyncClient, body: str
) -> None:
    response = await post(async_client, body.encode("latin1"))

    assert response.status_code in (400, 422)
    assert {"code", "message"} <= set(response.json())


async def test_a_nul_is_taken_out_of_a_message(
    ready: Project, async_client: AsyncClient
) -> None:
    await post(async_client, {"message": "a\x00b", "stream": False})

    assert (await Message.objects.aget(role="user")).content == "ab"


async def test_a_second_message_names_the_active_run(
    session: ChatSession, async_client: AsyncClient
) -> None:
    active = await db(make_run)(session, status=Status.RUNNING)

    response = await post(
        async_client, {"message": "?", "session_id": session.thread_id}
    )

    assert response.status_code == 409
    assert response.json()["code"] == "run_active"
    assert response.json()["run_id"] == str(active.pk)


async def test_an_enqueued_message_streams_its_own_answer_after_the_first(
    ready: Project,
    async_client: AsyncClient,
    provider: ScriptedProvider,
    worker: InProcessWorker,
) -> None:
    provider.script(stalls(after=["One "]), says("Two."))
    body = {"message": "1", "session_id": OTHER_LAB_ID}
    first = asyncio.create_task(events_of(await post(async_client, body)))
    second = asyncio.create_task(
        events_of(await post(async_client, {**body, "multitask_strategy": "enqueue"}))
    )
    async with asyncio.timeout(20):
        while not provider.requests:  # noqa: ASYNC110 (another thread's)
            await asyncio.sleep(0.01)
    stop = reverse(
        "session-stop", kwargs={"project_id": LAB_ID, "session_id": OTHER_LAB_ID}
    )

    assert (await async_client.post(stop)).json() == {"stopped": True}

    one, two = await first, await second
    assert (one[-1]["status"], two[-1]["status"]) == ("stopped", "succeeded")
    assert kinds(one)[-2:] == ["stopped", "done"]
    assert text_of(two) == "Two."
    assert {event["round"] for event in two} == {2}


async def test_a_closed_project_is_403(lab: Project, async_client: AsyncClient) -> None:
    await Project.objects.aupdate(status=Project.Status.CLOSED)

    response = await post(async_client, {"message": "?"})

    assert response.status_code == 403
    assert response.json()["code"] == "project_not_opened"
    assert not await ChatSession.objects.aexists()


async def test_without_a_model_it_is_400(
    lab: Project, async_client: AsyncClient, settings: Any
) -> None:
    settings.OFFLINE_MODEL = False

    response = await post(async_client, {"message": "?"})

    assert (response.status_code, response.json()["code"]) == (
        400,
        "llm_not_configured",
    )


async def test_a_message_that_reaches_no_worker_is_503_and_kept(
    lab: Project,
    async_client: AsyncClient,
    valkey: Valkey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat.runs.publish", lambda run: False)

    response = await post(async_client, {"message": "?"})

    run = await Run.objects.aget()
    assert response.status_code == 503
    assert response.json()["run_id"] == str(run.pk)
    assert run.status == Status.QUEUED


async def test_a_stream_says_that_it_lives(
    ready: Project,
    async_client: AsyncClient,
    provider: ScriptedProvider,
    settings: Any,
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    provider.script(stalls(after=["One "]))
    response = await post(async_client, {"message": "?"})

    async with asyncio.timeout(20):
        async for part in response.streaming_content:
            if b'"heartbeat"' in part:
                break

    assert part.startswith(b"data: ")
    assert set(json.loads(part[6:])) == {"type", "session_id"}


async def test_a_stream_ends_when_its_reader_is_made_inactive(
    ready: Project,
    async_client: AsyncClient,
    provider: ScriptedProvider,
    settings: Any,
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    provider.script(stalls(after=["One "]))
    response = await post(async_client, {"message": "?"})
    await User.objects.filter(username="alice").aupdate(is_active=False)

    events = await events_of(response)

    assert "done" not in kinds(events)


async def test_a_connection_is_bounded_and_goes_on_by_cursor(
    ready: Project,
    async_client: AsyncClient,
    provider: ScriptedProvider,
    settings: Any,
) -> None:
    settings.CONNECTION_BYTES = 10
    provider.script(stalls(after=["One "]))

    body = await body_of(await post(async_client, {"message": "?"}))

    assert body.endswith(b"retry: 100\n\n")
    assert frames_of(body)


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch"])
async def test_asking_is_a_post(
    lab: Project, async_client: AsyncClient, method: str
) -> None:
    response = await getattr(async_client, method)(STREAM)

    assert response.status_code == 405
