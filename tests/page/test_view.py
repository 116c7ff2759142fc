import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db


def test_page_needs_a_login(client: Client) -> None:
    response = client.get("/")

    assert response.status_code == 302
    assert response["Location"] == "/login/?next=/"
    assert "Sign in" in client.get(response["Location"]).text


def test_page_sets_the_csrf_cookie_and_runs_nothing_inline(client: Client) -> None:
    client.force_login(User.objects.create_user("alice"))

    response = client.get("/")

    assert response.status_code == 200
    assert "csrftoken" in response.cookies
    for tag in re.findall(r"<script[^>]*>", response.text):
        assert "src=" in tag or 'type="application/json"' in tag
    assert "<style" not in response.text
    assert not re.search(r"\s(style|on\w+)=", response.text)


def test_a_wrong_password_is_said_at_the_form(client: Client) -> None:
    response = client.post("/login/", {"username": "alice", "password": "wrong"})

    assert 'role="alert"' in response.text
    assert 'value="alice"' in response.text
    assert "wrong" not in response.text


def test_an_unknown_address_leads_back(client: Client) -> None:
    response = client.get("/nothing-here")

    assert response.status_code == 404
    assert "Back to the lab" in response.text
