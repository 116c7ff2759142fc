import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from projects.models import Membership, Project, Role, Server
from tests.chat.support import make_run, make_session
from tests.conftest import LAB_ID, OTHER_LAB_ID, Valkey

LIST = reverse("session-list", kwargs={"project_id": LAB_ID})


def path(name: str, session: ChatSession | str) -> str:
    thread = session if isinstance(session, str) else session.thread_id
    return reverse(name, kwargs={"project_id": LAB_ID, "session_id": thread})


def send(client: Client, method: str, where: str, body: Any = None) -> Any:
    data = json.dumps(body) if body is not None else ""
    return client.generic(method, where, data, "application/json")


def test_a_session_has_the_documented_fields(
    client: Client, session: ChatSession
) -> None:
    run = make_run(session)

    (shown,) = client.get(LIST).json()

    assert shown["thread_id"] == session.thread_id
    assert shown["user_id"] == str(session.user_id)
    assert shown["project_id"] == LAB_ID
    assert shown["active_run"]["id"] == str(run.pk)
    assert shown["active_run"]["status"] == "queued"
    assert set(shown) == {
        *("id", "thread_id", "user_id", "project_id", "title", "message_count"),
        *("llm_calls_count", "input_tokens", "output_tokens", "total_tokens"),
        *("last_message_at", "created_at", "updated_at", "metadata", "stats"),
        *("pinned", "active_run", "profile"),
    }


def test_the_list_holds_mine_of_this_project_only(
    client: Client, lab: Project, server: Server, alice: User, bob: User
) -> None:
    other = Project.objects.create(server=server, project_id=OTHER_LAB_ID, name="B")
    mine = make_session(alice, lab)
    make_session(alice, other)
    make_session(bob, lab)
    make_session(alice, None)

    assert [item["thread_id"] for item in client.get(LIST).json()] == [mine.thread_id]


def test_the_list_is_paged_in_one_order(
    client: Client, lab: Project, alice: User
) -> None:
    now = timezone.now()
    for age in range(7):
        make_session(
            alice,
            lab,
            title=str(age),
            pinned=age == 5,
            updated_at=now - timedelta(hours=age),
        )

    pages = [client.get(f"{LIST}?limit=3&offset={at}").json() for at in (0, 3, 6, 9)]

    titles = [[item["title"] for item in page] for page in pages]
    assert titles == [["5", "0", "1"], ["2", "3", "4"], ["6"], []]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=x", "offset=-1", "pinned=maybe"]
)
def test_a_wrong_page_is_a_validation_error(
    client: Client, lab: Project, query: str
) -> None:
    response = client.get(f"{LIST}?{query}")

    assert response.status_code == 422
    body = response.json()
    assert body["code"] == "validation_error"
    assert query.split("=")[0] in body["message"]


def test_a_search_finds_titles_and_messages(
    client: Client, lab: Project, alice: User
) -> None:
    titled = make_session(alice, lab, title="OSPF in area 0")
    asked = make_session(alice, lab, title="Other")
    make_run(asked, status=Status.SUCCEEDED, text="Why does ospf not come up?")
    make_session(alice, lab, title="100% else")

    found = {item["thread_id"] for item in client.get(f"{LIST}?q=OSPF").json()}

    assert found == {titled.thread_id, asked.thread_id}
    assert len(client.get(f"{LIST}?q=%25").json()) == 1


def test_the_list_can_be_of_pinned_ones_only(
    client: Client, lab: Project, alice: User
) -> None:
    pinned = make_session(alice, lab, pinned=True)
    make_session(alice, lab)

    (only,) = client.get(f"{LIST}?pinned=true").json()

    assert only["thread_id"] == pinned.thread_id


def test_the_list_needs_the_same_queries_for_one_and_for_fifty(
    client: Client, lab: Project, alice: User
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(LIST).status_code == 200
        return len(captured)

    make_run(make_session(alice, lab))
    one = queries()
    for _ in range(49):
        make_run(make_session(alice, lab))

    assert len(client.get(LIST).json()) == 50
    assert queries() == one


def test_history_needs_the_same_queries_for_few_and_many(
    client: Client, session: ChatSession
) -> None:
    def fill(count: int) -> None:
        run = make_run(session, status=Status.SUCCEEDED)
        for number in range(count):
            message = Message.objects.create(
                session=session,
                run=run,
                round=run.round,
                sequence=number + 2,
                role="assistant",
            )
            run.tool_calls.create(message=message, call_id="a", name="f", arguments="")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path("session-history", session)).status_code == 200
        return len(captured)

    fill(1)
    few = queries()
    fill(30)

    assert queries() == few


def test_an_empty_session_can_be_made(client: Client, lab: Project) -> None:
    response = send(client, "POST", LIST, {"title": " Mine "})

    assert response.status_code == 201
    session = ChatSession.objects.get()
    assert response.json()["thread_id"] == session.thread_id
    assert (session.title, session.is_title_final) == ("Mine", True)


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("x", 200),
        ("x" * 255, 200),
        ("😀" * 255, 200),
        ("  padded  ", 200),
        ("x" * 256, 422),
        ("😀" * 256, 422),
        ("", 422),
        ("   ", 422),
        (None, 422),
        (["x"], 422),
        ("nul\x00", 422),
    ],
)
def test_a_title_has_1_to_255_characters(
    client: Client, session: ChatSession, title: Any, status: int
) -> None:
    response = send(client, "PATCH", path("session-detail", session), {"title": title})

    assert response.status_code == status
    session.refresh_from_db()
    if status == 200:
        assert session.title == response.json()["title"] == title.strip()
    else:
        assert session.title == ""
        assert {"code", "message"} <= set(response.json())


def test_a_pin_is_put_and_taken(client: Client, session: ChatSession) -> None:
    where = path("session-pin", session)

    for method, pinned in [("PUT", True), ("PUT", True), ("DELETE", False)]:
        response = send(client, method, where)
        assert (response.status_code, response.json()["pinned"]) == (200, pinned)


def test_a_deleted_session_is_gone(
    client: Client, session: ChatSession, valkey: Valkey
) -> None:
    make_run(session)

    assert client.delete(path("session-detail", session)).status_code == 204
    assert client.get(path("session-detail", session)).status_code == 404
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "name",
    ["session-detail", "session-history", "session-runs", "session-events"],
)
@pytest.mark.parametrize("wrong", ["undefined", "1", "x" * 36, "123e4567-e89b"])
def test_a_malformed_session_id_is_a_validation_error(
    client: Client, lab: Project, name: str, wrong: str
) -> None:
    response = client.get(path(name, wrong))

    assert response.status_code == 422
    assert response.json()["code"] == "session_id_malformed"


def test_a_session_id_in_another_spelling_is_the_same(
    client: Client, session: ChatSession
) -> None:
    for spelling in (session.thread_id.upper(), session.thread_id.replace("-", "")):
        assert client.get(path("session-detail", spelling)).status_code == 200


def test_a_session_of_another_project_is_not_found(
    client: Client, server: Server, alice: User, lab: Project
) -> None:
    other = Project.objects.create(server=server, project_id=OTHER_LAB_ID, name="B")
    Membership.objects.create(project=other, user=alice, role=Role.OWNER)
    elsewhere = make_session(alice, other)

    assert client.get(path("session-detail", elsewhere)).status_code == 404


def test_history_has_the_newest_messages_in_order(
    client: Client, session: ChatSession
) -> None:
    for number in range(5):
        make_run(session, status=Status.SUCCEEDED, text=f"Question {number}")
    where = path("session-history", session)

    newest = client.get(f"{where}?limit=2").json()
    before = newest["messages"][0]["id"]
    older = client.get(f"{where}?limit=2&before={before}").json()

    texts = [m["content"] for m in older["messages"] + newest["messages"]]
    assert texts == [f"Question {number}" for number in (1, 2, 3, 4)]
    assert newest["thread_id"] == session.thread_id
    assert set(newest) >= {"title", "created_at", "updated_at", "llm_calls"}


@pytest.mark.parametrize("before", ["x", OTHER_LAB_ID])
def test_history_before_an_unknown_message_is_a_validation_error(
    client: Client, session: ChatSession, before: str
) -> None:
    response = client.get(f"{path('session-history', session)}?before={before}")

    assert response.status_code == 422


def test_runs_are_listed_newest_first(client: Client, session: ChatSession) -> None:
    for _ in range(3):
        make_run(session, status=Status.SUCCEEDED)

    shown = client.get(path("session-runs", session)).json()

    assert [run["round"] for run in shown] == [3, 2, 1]


def run_path(run: Run) -> str:
    return reverse("run-detail", kwargs={"project_id": LAB_ID, "run_id": str(run.pk)})


def test_a_waiting_message_can_be_withdrawn(
    client: Client, session: ChatSession, valkey: Valkey
) -> None:
    waiting = make_run(session, status=Status.PENDING)

    assert client.delete(run_path(waiting)).status_code == 204

    waiting.refresh_from_db()
    assert (waiting.status, waiting.reason) == (Status.STOPPED, "withdrawn")


@pytest.mark.parametrize("status", [Status.RUNNING, Status.SUCCEEDED])
def test_other_runs_cannot_be_withdrawn(
    client: Client, session: ChatSession, status: Status
) -> None:
    run = make_run(session, status=status)

    response = client.delete(run_path(run))

    assert (response.status_code, response.json()["code"]) == (409, "run_not_waiting")
    assert client.get(run_path(run)).json()["status"] == status


def test_stopping_says_whether_there_was_something_to_stop(
    client: Client, session: ChatSession, valkey: Valkey
) -> None:
    where = path("session-stop", session)

    assert client.post(where).json() == {"stopped": False}
    make_run(session)
    assert client.post(where).json() == {"stopped": True}
    assert client.post(path("session-abort", session)).json() == {"stopped": False}


def test_a_closed_project_can_be_read_renamed_and_deleted_from(
    client: Client, lab: Project, session: ChatSession, valkey: Valkey
) -> None:
    Project.objects.update(status=Project.Status.CLOSED)
    where = path("session-detail", session)

    assert client.get(path("session-history", session)).status_code == 200
    assert send(client, "PATCH", where, {"title": "x"}).status_code == 200
    assert send(client, "PUT", path("session-pin", session)).status_code == 200
    assert client.delete(where).status_code == 204
