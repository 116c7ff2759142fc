"""Personal API tokens: shown once, good until revoked or expired."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from rest_framework_simplejwt.tokens import RefreshToken

from accounts.keys import create_token
from accounts.models import ApiToken
from copilot_site.bearer import identity_of_token
from copilot_site.lib.secret_values import mask

pytestmark = pytest.mark.database

PATH = "/v3/access/api-keys"


def client_of(token: str) -> Client:
    return Client(
        enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"}
    )


def logged_in(user: User) -> Client:
    return client_of(str(RefreshToken.for_user(user).access_token))


def make(client: Client, **fields: Any) -> Any:
    body = json.dumps({"name": "my script", **fields})
    return client.post(PATH, body, content_type="application/json")


def test_a_token_is_shown_once_and_opens_the_api(alice: User) -> None:
    client = logged_in(alice)

    made = make(client)
    raw = made.json()["api_key"]
    listed = client.get(PATH)
    me = client_of(raw).get("/v3/access/users/me")

    assert made.status_code == 201
    assert raw.startswith("copilot_")
    assert len(raw) > 48
    assert raw not in listed.content.decode()
    assert [row["name"] for row in listed.json()] == ["my script"]
    assert me.json()["username"] == "alice"


def test_only_a_digest_is_stored(alice: User) -> None:
    _, raw = create_token(user=alice, name="x", expires_at=None)

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_apitoken")
        (row,) = cursor.fetchall()

    assert raw not in str(row)
    assert raw[20:] not in str(row)


def test_a_token_is_masked_wherever_it_is_written(alice: User) -> None:
    _, raw = create_token(user=alice, name="x", expires_at=None)

    assert raw not in mask(f"got {raw} today")


def test_a_revoked_token_opens_nothing_at_once(alice: User) -> None:
    client = logged_in(alice)
    made = make(client).json()
    identity = identity_of_token(made["api_key"])

    assert client.delete(f"{PATH}/{made['id']}").status_code == 204

    assert client_of(made["api_key"]).get("/v3/me").status_code == 401
    assert not identity.is_still_valid()
    assert client.get(PATH).json() == []
    assert client.delete(f"{PATH}/{made['id']}").status_code == 404


def test_an_expired_token_opens_nothing(alice: User) -> None:
    _, raw = create_token(
        user=alice, name="x", expires_at=timezone.now() + timedelta(hours=1)
    )
    assert client_of(raw).get("/v3/me").status_code == 200

    ApiToken.objects.update(expires_at=timezone.now())

    assert client_of(raw).get("/v3/me").status_code == 401


def test_a_token_of_an_inactive_user_opens_nothing(alice: User) -> None:
    _, raw = create_token(user=alice, name="x", expires_at=None)
    User.objects.update(is_active=False)

    assert client_of(raw).get("/v3/me").status_code == 401


@pytest.mark.parametrize("raw", ["copilot_", "copilot_x", "copilot_" + "A" * 43])
def test_a_made_up_token_opens_nothing(alice: User, raw: str) -> None:
    assert client_of(raw).get("/v3/me").status_code == 401


def test_use_is_noted_at_most_once_a_minute(alice: User) -> None:
    token, raw = create_token(user=alice, name="x", expires_at=None)
    identity_of_token(raw)
    token.refresh_from_db()
    first = token.last_used_at
    identity_of_token(raw)
    token.refresh_from_db()

    assert first is not None
    assert token.last_used_at == first

    earlier = first - timedelta(minutes=2)
    ApiToken.objects.update(last_used_at=earlier)
    identity_of_token(raw)
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at >= first


def test_a_token_can_make_or_end_no_token(alice: User) -> None:
    token, raw = create_token(user=alice, name="x", expires_at=None)
    client = client_of(raw)

    answers = [
        make(client),
        client.get(PATH),
        client.delete(f"{PATH}/{token.pk}"),
    ]

    assert [answer.status_code for answer in answers] == [403] * 3
    assert answers[0].json()["code"] == "login_needed"
    assert ApiToken.objects.get().revoked_at is None


def test_a_stranger_neither_sees_nor_ends_a_token(alice: User, bob: User) -> None:
    token, _ = create_token(user=alice, name="x", expires_at=None)
    client = logged_in(bob)

    assert client.get(PATH).json() == []
    assert client.delete(f"{PATH}/{token.pk}").status_code == 404
    assert ApiToken.objects.get().revoked_at is None


def test_nobody_is_asked_to_log_in(alice: User) -> None:
    token, _ = create_token(user=alice, name="x", expires_at=None)

    assert Client().delete(f"{PATH}/{token.pk}").status_code == 401


def test_a_cookie_alone_makes_no_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)

    assert make(client).status_code == 403
    assert not ApiToken.objects.exists()


def test_a_bearer_counts_beside_a_cookie_without_csrf(alice: User, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    token = str(RefreshToken.for_user(alice).access_token)

    made = client.post(
        PATH,
        '{"name": "x"}',
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )

    assert made.status_code == 201
    assert ApiToken.objects.get().user == alice


@pytest.mark.parametrize(
    "fields",
    [{"name": ""}, {"name": "x" * 101}, {"expires_at": "2020-01-01T00:00:00Z"}],
)
def test_wrong_fields_make_no_token(alice: User, fields: dict[str, str]) -> None:
    assert make(logged_in(alice), **fields).status_code == 422
    assert not ApiToken.objects.exists()


def test_an_operator_sees_and_revokes_but_makes_none(alice: User) -> None:
    token, raw = create_token(user=alice, name="x", expires_at=None)
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    page = "/admin/accounts/apitoken/"

    shown = client.get(page)
    made = client.get(f"{page}add/")
    client.post(page, {"action": "revoke", "_selected_action": [token.pk]})

    assert shown.status_code == 200
    assert raw[:10] in shown.content.decode()
    assert raw not in shown.content.decode()
    assert made.status_code == 403
    assert client_of(raw).get("/v3/me").status_code == 401
