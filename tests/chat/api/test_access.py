"""Every address under /v3, for those who may not use it."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from chat.models import ChatSession, Run
from projects import connections
from projects.models import Membership, Project, Role
from tests.chat.api.conftest import bearer
from tests.chat.support import make_run
from tests.conftest import LAB_ID

# Which methods each address takes. A new address must be entered here.
SESSION = {
    "session-detail": ["GET", "PATCH", "DELETE"],
    "session-pin": ["PUT", "DELETE"],
    "session-history": ["GET"],
    "session-events": ["GET"],
    "session-export": ["GET"],
    "session-runs": ["GET"],
    "session-stop": ["POST"],
    "session-abort": ["POST"],
    "session-approvals": ["GET"],
    "run-detail": ["GET", "DELETE"],
}
CHAT = {"stream": ["POST"], "session-list": ["GET", "POST", "DELETE"], **SESSION}
PROJECT = {
    "project-detail": ["GET", "DELETE"],
    "project-open": ["POST"],
    "project-close": ["POST"],
    "topology": ["GET"],
    "topology-svg": ["GET"],
}
OF_A_PROJECT = {
    **CHAT,
    **{f"gns3:{name}": methods for name, methods in CHAT.items()},
    **PROJECT,
}
# Of whoever asks: there is nothing of another to be seen.
OWN = {
    "me": ["GET"],
    "preferences": ["GET", "PATCH"],
    "who-am-i": ["GET"],
    "project-list": ["GET", "POST"],
    "profile-list": ["GET"],
    "data-source-list": ["GET"],
    "api-token-list": ["GET", "POST"],
    "user-events": ["GET"],
}
PUBLIC = {
    "openapi",
    "docs",
    "version",
    "authenticate",
    "login-form",
    "refresh",
    "api-logout",
}
# Each with its stranger test in tests/accounts, tests/llmconfig, tests/chat/….
ELSEWHERE = {
    *("directory-kinds", "directory-list", "directory-record-detail"),
    *("memory", "memory-detail"),
    "api-token-detail",
    "message-feedback",
    "gns3:message-feedback",
    *(f"user-llm-config-{name}" for name in ("default", "test", "models", "detail")),
    *(f"group-llm-config-{name}" for name in ("default", "test", "models", "detail")),
    *("user-llm-configs", "user-llm-configs-own", "group-llm-configs"),
    *("collection-list", "collection-detail", "document-list", "document-detail"),
    *("document-content", "passage-detail", "knowledge-search"),
    *(f"session-document-{name}" for name in ("list", "detail", "content")),
    *(f"gns3:session-document-{name}" for name in ("list", "detail", "content")),
    *("user-llm-config-make-default", "group-llm-config-make-default"),
    *("run-approvals", "gns3:run-approvals"),
}


def names(
    patterns: list[URLPattern | URLResolver], route: str = "", space: str = ""
) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = route + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from names(pattern.url_patterns, path, space + inner)
        else:
            yield path, space + (pattern.name or "")


def test_every_address_under_v3_has_a_stranger_test() -> None:
    found = {
        name for path, name in names(get_resolver().url_patterns) if path[:3] == "v3/"
    }

    assert found == {*OF_A_PROJECT, *OWN, *PUBLIC, *ELSEWHERE}


def cases(table: dict[str, list[str]]) -> list[Any]:
    return [
        pytest.param(name, method, id=f"{method} {name}")
        for name, methods in table.items()
        for method in methods
    ]


def address(name: str, session: ChatSession, run: Run, project: str = LAB_ID) -> str:
    values = {
        "project_id": project,
        "session_id": session.thread_id,
        "run_id": str(run.pk),
    }
    for wanted in (["project_id", "session_id"], ["project_id", "run_id"]):
        if name.split(":")[-1] in SESSION and ("run" in wanted[1]) == ("run-" in name):
            return reverse(name, kwargs={key: values[key] for key in wanted})
    return reverse(name, kwargs={"project_id": project} if name not in OWN else {})


def ask(client: Client, method: str, path: str) -> Any:
    body = '{"message": "Let me in", "title": "mine"}'
    return client.generic(method, path, body, content_type="application/json")


@pytest.fixture
def rows(run: Run) -> list[Any]:
    return [run.session, run]


def untouched(run: Run) -> bool:
    session = ChatSession.objects.get()
    run.refresh_from_db()
    return (session.title, session.pinned, run.status) == ("", False, "queued")


@pytest.mark.parametrize(("name", "method"), cases(OF_A_PROJECT))
def test_a_stranger_finds_nothing(
    stranger: Client, rows: list[Any], name: str, method: str
) -> None:
    response = ask(stranger, method, address(name, *rows))

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"
    assert untouched(rows[1])


@pytest.mark.parametrize(("name", "method"), cases(SESSION))
def test_a_colleague_in_the_project_finds_no_session_of_alice(
    stranger: Client, bob: User, lab: Project, rows: list[Any], name: str, method: str
) -> None:
    Membership.objects.create(project=lab, user=bob, role=Role.OWNER)

    response = ask(stranger, method, address(name, *rows))

    assert response.status_code == 404
    assert untouched(rows[1])


@pytest.mark.parametrize(("name", "method"), cases({**OF_A_PROJECT, **OWN}))
def test_nobody_is_asked_to_log_in(rows: list[Any], name: str, method: str) -> None:
    response = ask(Client(), method, address(name, *rows))

    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"
    assert "Bearer" in response["WWW-Authenticate"]
    assert untouched(rows[1])


@pytest.mark.parametrize(("name", "method"), cases({**OF_A_PROJECT, **OWN}))
def test_an_inactive_user_is_nobody(
    alice: User, rows: list[Any], name: str, method: str
) -> None:
    headers = bearer(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)

    response = ask(Client(headers=headers), method, address(name, *rows))

    assert response.status_code == 401
    assert untouched(rows[1])


@pytest.mark.parametrize(
    ("name", "method"),
    [case for case in cases(OF_A_PROJECT) if case.values[1] != "GET"],
)
def test_a_cookie_alone_changes_nothing(
    browser: Client, rows: list[Any], name: str, method: str
) -> None:
    response = ask(browser, method, address(name, *rows))

    assert response.status_code == 403
    assert response.json()["code"] in ("csrf_failed", "permission_denied")
    assert untouched(rows[1])


@pytest.mark.parametrize(
    ("name", "method", "project"),
    [
        *((*case.values, "undefined") for case in cases({**CHAT, **PROJECT})),
        *(("session-list", "GET", text) for text in ("null", "..%2F", "1", "%00")),
    ],
)
def test_what_is_no_project_id_is_not_found_without_asking_gns3(
    client: Client,
    rows: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    method: str,
    project: str,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("GNS3 was asked")

    monkeypatch.setattr(connections, "Gns3Client", refuse)
    path = address(name, *rows).replace(LAB_ID, project)

    assert ask(client, method, path).status_code == 404


def test_a_bearer_token_works_beside_a_session_cookie(
    browser: Client, alice: User, rows: list[Any]
) -> None:
    response = browser.post(
        address("session-stop", *rows), headers=bearer(alice), data={}
    )

    assert response.status_code == 200


def test_a_wrong_bearer_token_is_not_saved_by_a_cookie(
    browser: Client, rows: list[Any]
) -> None:
    path = address("session-list", *rows)

    assert browser.get(path).status_code == 200
    response = browser.get(path, headers={"Authorization": "Bearer wrong"})
    assert response.status_code == 401


def test_a_csrf_token_lets_the_cookie_change(browser: Client, rows: list[Any]) -> None:
    browser.get(reverse("chat:page"))
    token = browser.cookies["csrftoken"].value

    response = browser.put(
        address("session-pin", *rows), headers={"X-CSRFToken": token}
    )

    assert response.status_code == 200


@pytest.mark.parametrize("name", ["session-list", "me", "session-events"])
def test_a_token_in_the_address_is_refused(
    alice: User, rows: list[Any], name: str
) -> None:
    token = bearer(alice)["Authorization"].removeprefix("Bearer ")

    for key in ("token", "access_token"):
        path = f"{address(name, *rows)}?{urlencode({key: token})}"
        assert Client().get(path).status_code == 401


def test_a_changed_password_ends_all_tokens(alice: User, rows: list[Any]) -> None:
    client = Client(headers=bearer(alice))
    path = address("session-list", *rows)
    assert client.get(path).status_code == 200

    alice.set_password("another")
    alice.save()

    assert client.get(path).status_code == 401


@pytest.mark.parametrize(
    ("role", "status"),
    [(Role.VIEWER, 403), (Role.MEMBER, 200), (Role.OWNER, 200)],
)
def test_a_viewer_reads_but_does_not_stop(
    bob: User, lab: Project, role: Role, status: int
) -> None:
    Membership.objects.create(project=lab, user=bob, role=role)
    session = ChatSession.objects.create(user=bob, project=lab)
    run = make_run(session)
    client = Client(headers=bearer(bob))

    assert client.get(address("session-history", session, run)).status_code == 200
    response = ask(client, "POST", address("session-stop", session, run))
    assert response.status_code == status
