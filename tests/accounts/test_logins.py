"""Logins: who guesses has to wait, and who logs out is out."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from accounts.models import EndedLogin
from copilot_site.bearer import identity_of_token
from tests.conftest import PASSWORD, Valkey

pytestmark = [pytest.mark.database, pytest.mark.needs("valkey")]

ACCESS = "/v3/access/users"


@pytest.fixture(autouse=True)
def _forget(valkey: Valkey) -> None:
    for name in ("default", "local"):
        caches[name].clear()


def post(path: str, client: Client | None = None, **body: str) -> Any:
    return (client or Client()).post(
        f"{ACCESS}/{path}", json.dumps(body), content_type="application/json"
    )


def log_in(username: str = "alice", password: str = PASSWORD, **where: str) -> Any:
    client = Client(**where)  # type: ignore[arg-type] # the stub knows no defaults
    return post("authenticate", client, username=username, password=password)


def client_of(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


# --- Guessing ---------------------------------------------------------------------


def test_ten_wrong_passwords_and_the_right_one_has_to_wait(alice: User) -> None:
    wrong = [log_in(password=f"no-{number}").status_code for number in range(10)]

    right = log_in()

    assert wrong == [401] * 10
    assert right.status_code == 429
    assert right.json()["code"] == "login_throttled"
    assert 0 < int(right["Retry-After"]) <= 300


def test_others_and_other_places_do_not_have_to_wait(alice: User, bob: User) -> None:
    for number in range(11):
        log_in(password=f"no-{number}")

    assert log_in("ALICE").status_code == 429
    assert log_in("bob").status_code == 200
    assert log_in(REMOTE_ADDR="10.9.9.9").status_code == 200


def test_a_login_that_succeeds_forgets_the_failures(alice: User) -> None:
    for _ in range(3):
        for number in range(8):
            log_in(password=f"no-{number}")
        assert log_in().status_code == 200


def test_an_unknown_name_is_treated_as_a_known_one(alice: User) -> None:
    answers = [log_in("nobody", "no") for _ in range(11)]
    known = [log_in("alice", "no") for _ in range(11)]

    assert [a.status_code for a in answers] == [a.status_code for a in known]
    assert answers[0].json() == known[0].json()


def test_the_login_page_and_the_admin_count_the_same_failures(alice: User) -> None:
    for path in ("/login/", "/admin/login/"):
        for _ in range(5):
            form = {"username": "alice", "password": "no"}
            assert Client().post(path, form).status_code == 200

    form = {"username": "alice", "password": PASSWORD}
    answers = [Client().post(path, form) for path in ("/login/", "/admin/login/")]

    assert [answer.status_code for answer in answers] == [429, 429]
    assert b"Wait a little" in answers[0].content
    assert "Retry-After" in answers[0]
    assert log_in().status_code == 429


def test_behind_a_trusted_proxy_its_client_is_counted(
    alice: User, settings: LazySettings
) -> None:
    settings.TRUSTED_PROXY = True
    for number in range(11):
        log_in(
            password=f"no-{number}", HTTP_X_FORWARDED_FOR=f"1.2.3.{number}, 10.0.0.7"
        )

    assert log_in(HTTP_X_FORWARDED_FOR="10.0.0.7").status_code == 429
    assert log_in(HTTP_X_FORWARDED_FOR="10.0.0.8").status_code == 200


def test_without_redis_a_process_counts_for_itself(alice: User, valkey: Valkey) -> None:
    valkey.kill()
    try:
        for number in range(10):
            log_in(password=f"no-{number}")
        assert log_in().status_code == 429
    finally:
        valkey.start()


# --- Who I am, and the end of a login ------------------------------------------


def test_who_i_am_is_told_in_gns3s_shape(alice: User) -> None:
    token = log_in().json()["access_token"]

    me = client_of(token).get(f"{ACCESS}/me").json()

    assert me["username"] == "alice"
    assert me["user_id"] == str(alice.pk)
    assert (me["is_active"], me["is_superadmin"]) == (True, False)
    assert me["last_login"]
    assert {"email", "full_name", "created_at"} <= set(me)


def test_logging_out_makes_both_tokens_worthless(alice: User) -> None:
    tokens = log_in().json()
    other = log_in().json()
    identity = identity_of_token(tokens["access_token"])

    gone = post("logout", refresh_token=tokens["refresh_token"])

    assert gone.status_code == 204
    assert post("refresh", refresh_token=tokens["refresh_token"]).status_code == 401
    assert client_of(tokens["access_token"]).get("/v3/me").status_code == 401
    assert not identity.is_still_valid()
    # The other window's login is another one.
    assert client_of(other["access_token"]).get("/v3/me").status_code == 200
    assert post("refresh", refresh_token=other["refresh_token"]).status_code == 200


def test_the_access_token_alone_logs_out_too(alice: User) -> None:
    tokens = log_in().json()

    assert post("logout", client_of(tokens["access_token"])).status_code == 204

    assert post("refresh", refresh_token=tokens["refresh_token"]).status_code == 401


def test_a_refreshed_token_ends_with_its_login(alice: User) -> None:
    tokens = log_in().json()
    newer = post("refresh", refresh_token=tokens["refresh_token"]).json()
    post("logout", refresh_token=tokens["refresh_token"])

    assert client_of(newer["access_token"]).get("/v3/me").status_code == 401


@pytest.mark.parametrize("raw", ["", "x", "a.b.c", "copilot_abc"])
def test_what_is_no_login_cannot_be_ended(transactional_db: None, raw: str) -> None:
    assert post("logout", refresh_token=raw).status_code == 401
    assert not EndedLogin.objects.exists()


def test_ended_logins_are_forgotten_when_all_their_tokens_have_expired(
    alice: User,
) -> None:
    EndedLogin.objects.create(
        login_id="old", expires_at=timezone.now() - timedelta(days=1)
    )

    post("logout", refresh_token=log_in().json()["refresh_token"])

    assert EndedLogin.objects.count() == 1
    assert not EndedLogin.objects.filter(login_id="old").exists()


def test_a_new_password_ends_open_streams_too(alice: User) -> None:
    identity = identity_of_token(log_in().json()["access_token"])
    assert identity.is_still_valid()

    alice.set_password("another-password")
    alice.save()

    assert not identity.is_still_valid()


def test_no_token_is_stored(alice: User) -> None:
    from django.db import connection

    tokens = log_in().json()
    post("logout", refresh_token=tokens["refresh_token"])

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_endedlogin")
        rows = str(cursor.fetchall())
    assert tokens["refresh_token"] not in rows
    assert tokens["access_token"] not in rows
