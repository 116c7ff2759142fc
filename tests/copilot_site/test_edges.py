import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import Client, RequestFactory
from django.urls import reverse
from rest_framework import exceptions

from chat.health import checks
from copilot_site.api_errors import error_response, exception_handler
from copilot_site.lib.errors import Conflict, NotFound, Unavailable, UserFacingError
from copilot_site.lib.secret_values import remember
from tests.conftest import PASSWORD, Valkey


def body_of(error: Exception, path: str = "/v3/x") -> tuple[int, dict[str, Any]]:
    response = error_response(error, path)
    return response.status_code, json.loads(response.content)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (UserFacingError("no"), 400, "error"),
        (NotFound("no"), 404, "not_found"),
        (Conflict("no"), 409, "conflict"),
        (Unavailable("no"), 503, "unavailable"),
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "forbidden"),
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.Throttled(), 429, "throttled"),
        (exceptions.UnsupportedMediaType("x"), 415, "unsupported_media_type"),
        (RuntimeError("/etc/passwd"), 500, "internal_error"),
    ],
)
def test_every_error_has_a_code_and_a_message(
    error: Exception, status: int, code: str
) -> None:
    found, body = body_of(error)

    assert (found, body["code"]) == (status, code)
    assert body["message"]
    assert body["detail"] == body["message"]
    assert "/etc" not in body["message"]


def test_a_validation_error_names_the_fields() -> None:
    error = exceptions.ValidationError({"a": ["bad"], "b": {"c": ["worse"]}})

    status, body = body_of(error)

    assert (status, body["code"]) == (422, "validation_error")
    assert body["errors"] == [
        {"field": "a", "message": "bad"},
        {"field": "b.c", "message": "worse"},
    ]
    assert body_of(error, "/api/chat")[0] == 400


def test_an_error_shows_no_secret() -> None:
    remember("secret-of-an-error")

    _, body = body_of(UserFacingError("as secret-of-an-error"))

    assert "secret-of-an-error" not in json.dumps(body)


def test_a_bug_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    request = RequestFactory().get("/v3/x")

    response = exception_handler(RuntimeError("inside"), {"request": request})

    assert response is not None
    assert response.status_code == 500
    assert "inside" not in str(response.data)
    assert "inside" in caplog.text


@pytest.mark.parametrize("path", ["/v3/nowhere", "/api/nowhere"])
def test_an_unknown_api_address_is_json(transactional_db: None, path: str) -> None:
    response = Client().get(path)

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_an_unknown_page_is_a_page(transactional_db: None) -> None:
    response = Client().get("/nowhere")

    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/", "/login/", "/v3/version"])
def test_pages_run_scripts_of_this_site_only(alice: User, path: str) -> None:
    client = Client()
    if path == "/":
        client.force_login(alice)
    policy = client.get(path)["Content-Security-Policy"]

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy


def test_pages_cannot_be_framed_or_sniffed(transactional_db: None) -> None:
    response = Client().get("/login/")

    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_chat_page_asks_for_a_login(transactional_db: None) -> None:
    response = Client().get("/")

    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("as_form", [True, False])
@pytest.mark.parametrize("name", ["authenticate", "login-form"])
def test_a_password_gives_a_token_that_works(
    alice: User, as_form: bool, name: str
) -> None:
    form = {"username": "alice", "password": PASSWORD}
    client = Client(enforce_csrf_checks=True)

    if as_form:
        response = client.post(reverse(name), form)
    else:
        response = client.post(reverse(name), form, content_type="application/json")

    body = response.json()
    assert (response.status_code, body["token_type"]) == (200, "bearer")
    headers = {"Authorization": f"Bearer {body['access_token']}"}
    me = client.get(reverse("me"), headers=headers).json()
    assert (me["username"], me["user_id"]) == ("alice", str(alice.pk))


@pytest.mark.parametrize(
    "form",
    [
        {"username": "alice", "password": "wrong"},
        {"username": "nobody", "password": PASSWORD},
        {"username": ["alice"], "password": {"a": 1}},
        {},
    ],
)
def test_a_wrong_password_gives_nothing(alice: User, form: dict[str, Any]) -> None:
    response = Client().post(
        reverse("authenticate"), form, content_type="application/json"
    )

    assert response.status_code == 401
    assert set(response.json()) >= {"code", "message"}


def test_a_refresh_token_gives_a_new_one_until_the_user_is_inactive(
    alice: User,
) -> None:
    client = Client()
    form = {"username": "alice", "password": PASSWORD}
    made = client.post(
        reverse("authenticate"), form, content_type="application/json"
    ).json()
    body = {"refresh_token": made["refresh_token"]}

    def refresh(data: Any) -> Any:
        return client.post(reverse("refresh"), data, content_type="application/json")

    assert refresh(body).json()["access_token"]
    assert refresh({"refresh_token": made["access_token"]}).status_code == 401
    assert refresh({"refresh_token": ["x"]}).status_code == 401
    assert refresh({}).status_code == 401
    User.objects.update(is_active=False)
    assert refresh(body).status_code == 401


def test_me_names_the_model_that_answers(alice: User, settings: Any) -> None:
    client = Client()
    client.force_login(alice)

    assert client.get(reverse("me")).json()["llm"]["is_offline"] is True
    settings.OFFLINE_MODEL = False
    assert client.get(reverse("me")).json()["llm"] is None


async def test_health_names_what_is_missing(
    transactional_db: None, valkey: Valkey
) -> None:
    assert await checks() == {
        "database": "ok",
        "redis": "ok",
        "worker": "none is running",
    }
    valkey.kill()
    try:
        assert (await checks())["redis"] == "does not answer"
    finally:
        valkey.start()
