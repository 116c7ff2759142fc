"""Who decides, and how it is told: REST, server-sent events, sockets, own channel."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from chat.events.reader import DONE
from chat.models import Approval, ChatSession, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from projects.models import Membership, Project, Role
from tests.chat.api.conftest import BearerClient, bearer
from tests.chat.api.test_stream import STREAM, body_of, frames_of
from tests.chat.api_more.test_user_events import news, opened
from tests.chat.approvals.conftest import Router, Waiting, status_of
from tests.chat.conftest import InProcessWorker
from tests.chat.support import db, kinds, until
from tests.chat.test_consumers import Connect, connect, path_of
from tests.chat.test_consumers import bearer as token_header
from tests.conftest import LAB_ID
from tests.fakes.provider import ScriptedProvider, calls, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]

__all__ = ["connect"]
ALIASES = ["v3", "v3/copilot"]
RENAME = {"lines": ["hostname R2"]}


def address(run: Run, root: str = "v3") -> str:
    return f"/{root}/projects/{LAB_ID}/chat/runs/{run.pk}/approvals"


def body(*decisions: dict[str, Any]) -> str:
    return json.dumps({"decisions": decisions})


def post(user: User, run: Run, text: str, root: str = "v3") -> Any:
    return Client(headers=bearer(user)).post(
        address(run, root), text, content_type="application/json"
    )


def approval_of(run: Run) -> dict[str, str]:
    return {"approval_id": str(run.approvals.get().pk), "decision": "approve"}


@pytest.mark.parametrize("root", ALIASES)
async def test_the_owner_approves_and_the_answer_says_what_was_decided(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User, root: str
) -> None:
    run = await waiting()
    wanted = await db(approval_of)(run)

    response = await db(post)(alice, run, body(wanted), root)

    assert response.status_code == 200
    answer = response.json()
    assert answer["run"]["status"] == "queued"
    assert [row["status"] for row in answer["approvals"]] == ["approved"]
    assert answer["approvals"][0]["decided_by"] == "alice"
    await until(lambda: Run.objects.get(pk=run.pk).is_finished, "it ends")
    await worker.finish()
    assert router.ran == [["hostname R2"]]
    again = await db(post)(alice, run, body(wanted), root)
    assert (again.status_code, again.json()["code"]) == (409, "approval_decided")


async def test_another_engineer_of_the_project_may_decide(
    waiting: Waiting, worker: InProcessWorker, carol: User
) -> None:
    run = await waiting()
    wanted = {**await db(approval_of)(run), "decision": "reject", "reason": "No."}

    response = await db(post)(carol, run, body(wanted))

    assert response.status_code == 200
    row = await Approval.objects.select_related("decided_by").aget()
    assert (row.status, row.reason, row.decided_by) == ("rejected", "No.", carol)
    await until(lambda: Run.objects.get(pk=run.pk).is_finished, "it ends")
    await worker.finish()


@pytest.mark.parametrize(
    ("role", "status"), [(None, 404), (Role.VIEWER, 403), (Role.MEMBER, 403)]
)
async def test_who_may_not_change_may_not_decide(
    waiting: Waiting, lab: Project, bob: User, role: Role | None, status: int
) -> None:
    run = await waiting()
    if role is not None:
        await Membership.objects.acreate(project=lab, user=bob, role=role)
    wanted = await db(approval_of)(run)

    response = await db(post)(bob, run, body(wanted))

    assert response.status_code == status
    assert await db(status_of)(run) == Status.WAITING_APPROVAL


async def test_an_owner_who_lost_the_role_meanwhile_may_not_decide(
    waiting: Waiting, alice: User
) -> None:
    run = await waiting()
    await Membership.objects.filter(user=alice).aupdate(role=Role.MEMBER)

    response = await db(post)(alice, run, body(await db(approval_of)(run)))

    assert response.status_code == 403


async def test_what_is_no_decision_is_refused(waiting: Waiting, alice: User) -> None:
    run = await waiting()
    good = await db(approval_of)(run)
    cases = [
        ({}, 422, "invalid"),
        ({"decisions": []}, 422, "invalid"),
        ({"decisions": [{**good, "decision": "maybe"}]}, 422, "invalid"),
        ({"decisions": [{**good, "arguments": ["a"]}]}, 422, "invalid"),
        ({"decisions": [{**good, "approval_id": str(run.pk)}]}, 404, "not_found"),
        ({"decisions": [good, good]}, 409, "approval_decided"),
        (
            {"decisions": [{**good, "arguments": {"lines": ["reload"]}}]},
            422,
            "edit_refused",
        ),
    ]

    for wanted, status, code in cases:
        response = await db(post)(alice, run, json.dumps(wanted))
        assert response.status_code == status, wanted
        if code != "invalid":
            assert response.json()["code"] == code

    assert await db(status_of)(run) == Status.WAITING_APPROVAL


async def test_the_sessions_list_and_approvals_say_that_it_waits(
    waiting: Waiting, alice: User, session: ChatSession
) -> None:
    run = await waiting()

    def read(path: str) -> Any:
        root = f"/v3/projects/{LAB_ID}/chat/sessions{path}"
        return Client(headers=bearer(alice)).get(root).json()

    [listed] = await db(read)("")
    assert listed["active_run"]["status"] == "waiting_approval"
    [shown] = await db(read)(f"/{session.thread_id}/approvals")
    assert (shown["status"], shown["run_id"]) == ("waiting", str(run.pk))
    assert shown["arguments"] == RENAME


@pytest.fixture
def scripted(
    lab: Project,
    llm: LLMConfig,
    worker: InProcessWorker,
    router: Router,
    provider: ScriptedProvider,
) -> ScriptedProvider:
    provider.script(calls(("change", RENAME)), says("Done."))
    return provider


async def test_the_stream_of_who_asks_ends_where_a_person_is_asked(
    scripted: ScriptedProvider, alice: User
) -> None:
    client: AsyncClient = await db(BearerClient)(alice)

    response = await client.post(
        STREAM, json.dumps({"message": "Rename it."}), content_type="application/json"
    )
    data = await body_of(response)

    assert kinds([event for _, event in frames_of(data)])[-1] == "approval_required"
    last = data.decode().split("\n\n")[-2]
    assert last.startswith("data: ")
    done = json.loads(last[6:])
    assert (done["type"], done["status"]) == ("done", "waiting_approval")
    assert "seq" not in done
    assert data.count(DONE) == 1


async def test_without_a_stream_the_answer_has_what_waits(
    scripted: ScriptedProvider, alice: User
) -> None:
    client: AsyncClient = await db(BearerClient)(alice)
    wanted = {"message": "Rename it.", "stream": False}

    response = await client.post(
        STREAM, json.dumps(wanted), content_type="application/json"
    )

    answer = response.json()
    assert answer["status"] == "waiting_approval"
    assert [row["status"] for row in answer["approvals"]] == ["waiting"]


async def test_a_socket_decides_and_hears_how_it_goes_on(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    session: ChatSession,
    connect: Connect,
) -> None:
    run = await waiting()
    headers = await db(token_header)(session.user)
    socket = await connect(path_of(session), headers=headers)
    seen = await socket.until("approval_required")
    [shown] = seen[-1]["approvals"]

    await socket.send({"type": "approve"})
    assert (await socket.receive())["code"] == "bad_frame"
    await socket.send({"type": "approve", "approval_id": str(run.pk)})
    assert (await socket.receive())["code"] == "not_found"
    edited = {"lines": ["hostname R7"]}
    frame = {"type": "approve", "approval_id": shown["id"], "arguments": edited}
    await socket.send(frame)

    seen = await socket.until("done")
    assert seen[0]["type"] == "approval_resolved"
    assert seen[0]["approvals"][0]["arguments"] == edited
    assert seen[-1]["status"] == "succeeded"
    await worker.finish()
    assert router.ran == [["hostname R7"]]


async def test_a_socket_rejects_with_a_reason(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    session: ChatSession,
    connect: Connect,
) -> None:
    await waiting()
    headers = await db(token_header)(session.user)
    socket = await connect(path_of(session), headers=headers)
    [shown] = (await socket.until("approval_required"))[-1]["approvals"]

    frame = {"type": "reject", "approval_id": shown["id"], "reason": "Not now."}
    await socket.send(frame)

    seen = await socket.until("done")
    assert seen[0]["approvals"][0]["reason"] == "Not now."
    await worker.finish()
    assert router.ran == []


async def test_the_users_own_channel_tells_of_waiting_and_deciding(
    waiting: Waiting, worker: InProcessWorker, alice: User
) -> None:
    hers = news(await opened(alice))
    assert (await anext(hers))["type"] == "ready"
    run = await waiting()
    await db(post)(alice, run, body(await db(approval_of)(run)))

    told = []
    async with asyncio.timeout(20):
        async for item in hers:
            told.append(item["type"])
            if item["type"] == "run_finished":
                break
    await worker.finish()

    assert [kind for kind in told if kind.startswith("approval")] == [
        "approval_waiting",
        "approval_resolved",
    ]
