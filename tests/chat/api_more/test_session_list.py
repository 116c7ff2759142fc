"""Pages of sessions and of messages: nothing lost, nothing twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import ChatSession, Run
from chat.models.run import Status
from projects.models import Project
from tests.chat.api_more.conftest import CHAT, make_answered, queries, say
from tests.chat.support import make_run, make_session

pytestmark = pytest.mark.database


def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"{CHAT}/sessions{query}")
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()
    return rows


def pages(client: Client, limit: int, between: Any = None) -> list[int]:
    """Ids of all pages, one after another by cursor."""
    seen: list[int] = []
    cursor = ""
    while True:
        response = client.get(f"{CHAT}/sessions?limit={limit}&cursor={cursor}")
        seen += [row["id"] for row in response.json()]
        cursor = response.headers.get("X-Next-Cursor", "")
        if not cursor:
            return seen
        if between:
            between(seen)


def make_many(user: User, lab: Project, count: int, pinned: int) -> list[int]:
    """In the list's order; all changed at the same moment."""
    now = timezone.now()
    made = [
        make_session(user, lab, pinned=number < pinned, updated_at=now)
        for number in range(count)
    ]
    return [one.pk for one in sorted(made, key=lambda s: (-s.pinned, -s.pk))]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_pages_by_cursor_hold_each_session_once(
    hers: Client, alice: User, lab: Project, limit: int
) -> None:
    wanted = make_many(alice, lab, 7, pinned=3)

    assert pages(hers, limit) == wanted


def test_the_last_page_names_no_further_one(
    hers: Client, alice: User, lab: Project
) -> None:
    make_many(alice, lab, 4, pinned=0)

    assert "X-Next-Cursor" in hers.get(f"{CHAT}/sessions?limit=3").headers
    assert "X-Next-Cursor" not in hers.get(f"{CHAT}/sessions?limit=4").headers


def test_a_deleted_session_does_not_move_the_cursor(
    hers: Client, alice: User, lab: Project
) -> None:
    wanted = make_many(alice, lab, 6, pinned=2)

    def delete_last(seen: list[int]) -> None:
        ChatSession.objects.filter(pk=seen[-1]).delete()

    assert pages(hers, 1, delete_last) == wanted


def test_a_session_that_moves_up_is_not_repeated_and_moves_no_other(
    hers: Client, alice: User, lab: Project
) -> None:
    wanted = make_many(alice, lab, 6, pinned=2)

    def use_last(seen: list[int]) -> None:
        now = timezone.now() + timedelta(seconds=1)
        ChatSession.objects.filter(pk=seen[-1]).update(updated_at=now)

    assert pages(hers, 2, use_last) == wanted


def test_new_sessions_do_not_shift_later_pages(
    hers: Client, alice: User, lab: Project
) -> None:
    wanted = make_many(alice, lab, 5, pinned=1)

    assert pages(hers, 2, lambda seen: make_session(alice, lab)) == wanted


@pytest.mark.parametrize(
    "cursor", ["x", "!!", "WzFd", "e30", "WzEsMiwzXQ", "W3RydWUsIngiLDFd", "%C3%A4"]
)
def test_a_cursor_of_something_else_is_400(hers: Client, cursor: str) -> None:
    response = hers.get(f"{CHAT}/sessions?cursor={cursor}")

    assert (response.status_code, response.json()["code"]) == (400, "bad_cursor")


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cursor=st.text(min_size=1, max_size=60))
def test_no_cursor_is_an_error_of_ours(hers: Client, cursor: str) -> None:
    response = hers.get(f"{CHAT}/sessions", {"cursor": cursor})

    assert response.status_code in (200, 400, 422)


def test_sessions_of_a_profile(hers: Client, alice: User, lab: Project) -> None:
    tutor = make_session(alice, lab, title="Tutor")
    make_run(tutor, status=Status.SUCCEEDED, profile="tutor")
    make_run(tutor, status=Status.SUCCEEDED, profile="lab")
    make_run(make_session(alice, lab), status=Status.SUCCEEDED, profile="lab")
    make_session(alice, lab)

    assert [row["title"] for row in listed(hers, "?profile=tutor")] == ["Tutor"]
    assert len(listed(hers, "?profile=lab")) == 2
    assert listed(hers, "?profile=nobody") == []


def test_a_search_keeps_the_lists_order(
    hers: Client, alice: User, lab: Project
) -> None:
    old = make_answered(alice, lab, title="Old", pinned=True)
    make_answered(alice, lab, title="New")
    make_session(alice, lab, title="Other")

    assert [row["title"] for row in listed(hers, "?q=gatew wron")] == ["Old", "New"]
    assert [row["id"] for row in listed(hers, "?q=gateway&pinned=true")] == [old.pk]


def test_a_search_finds_nothing_of_others(
    his: Client, bob: User, answered: ChatSession, lab: Project
) -> None:
    lab.memberships.create(user=bob, role="member")

    assert listed(his, "?q=gateway") == []


def test_fifty_sessions_take_as_many_queries_as_one(
    hers: Client, alice: User, lab: Project
) -> None:
    make_answered(alice, lab)
    for query in ("", "?q=gateway", "?profile=lab", "?limit=200&cursor="):
        listed(hers, query)
    few = [queries(lambda q=q: listed(hers, q)) for q in ("", "?q=gateway 10.0")]

    for _ in range(49):
        make_answered(alice, lab)

    many = [queries(lambda q=q: listed(hers, q)) for q in ("", "?q=gateway 10.0")]
    assert few == many
    assert max(many) <= 7


def test_deleting_all_deletes_mine_in_this_project_only(
    hers: Client, alice: User, bob: User, lab: Project
) -> None:
    other = Project.objects.create(
        server=lab.server, project_id="3" * 8 + "-1111-4111-8111-111111111111", name="O"
    )
    kept = [make_session(bob, lab), make_session(alice, other)]
    make_answered(alice, lab)
    make_run(make_session(alice, lab))

    response = hers.delete(f"{CHAT}/sessions")

    assert (response.status_code, response.json()) == (200, {"deleted": 2})
    assert set(ChatSession.objects.all()) == set(kept)
    assert hers.delete(f"{CHAT}/sessions").json() == {"deleted": 0}


def test_deleting_fifty_takes_as_many_queries_as_one(
    hers: Client, alice: User, lab: Project
) -> None:
    def delete() -> None:
        hers.delete(f"{CHAT}/sessions")

    make_answered(alice, lab)
    few = queries(delete)
    for _ in range(50):
        make_answered(alice, lab)

    # Django reads what hangs on the rows in portions.
    assert queries(delete) <= few + 8


def test_pages_of_history_meet_while_messages_arrive(
    hers: Client, alice: User, lab: Project
) -> None:
    session = make_answered(alice, lab)
    for number in range(2, 8):
        run = make_run(session, status=Status.SUCCEEDED, round=number)
        say(run, f"answer {number}", role="assistant")
    wanted = [str(key) for key in session.messages.values_list("pk", flat=True)]
    path = f"{CHAT}/sessions/{session.thread_id}/history?limit=3"
    seen: list[str] = []
    before = ""

    while True:
        page = hers.get(f"{path}{before}").json()["messages"]
        if not page:
            break
        seen = [message["id"] for message in page] + seen
        before = f"&before={page[0]['id']}"
        late = make_run(session, status=Status.SUCCEEDED, round=Run.objects.count() + 9)
        say(late, "later", role="assistant")

    assert seen == wanted


def test_fifty_messages_take_as_many_queries_as_one(
    hers: Client, alice: User, lab: Project
) -> None:
    session = make_session(alice, lab)
    run = make_run(session, status=Status.SUCCEEDED, round=1)
    path = f"{CHAT}/sessions/{session.thread_id}/history"
    say(run, "a", role="assistant")
    few = queries(lambda: hers.get(path))
    for _ in range(50):
        say(run, "a", role="assistant")

    assert queries(lambda: hers.get(path)) == few


def test_a_long_history_takes_as_many_queries_as_a_short_one(
    hers: Client, lab: Project, alice: User
) -> None:
    short, long = (make_answered(alice, lab) for _ in range(2))
    for number in range(2, 42):
        run = make_run(long, round=number, status=Status.SUCCEEDED)
        calling = say(run, "Let me look.", role="assistant")
        run.tool_calls.create(message=calling, call_id=f"c{number}", name="look")
        say(run, "Found.", role="assistant")

    def history(session: ChatSession) -> int:
        path = f"{CHAT}/sessions/{session.thread_id}/history?limit=100"
        return queries(lambda: hers.get(path))

    history(short)
    assert history(long) == history(short)
