"""Pages for browsers, JSON for everything else."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from projects.models import Project
from tests.conftest import LAB_ID

PATH = f"/v3/projects/{LAB_ID}/chat/sessions"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def get(user: User, accept: str | None) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(PATH, headers={"Accept": accept} if accept else {})


def test_a_browser_gets_a_page_without_inline_script_or_style(
    alice: User, lab: Project
) -> None:
    response = get(alice, BROWSER)

    assert response["Content-Type"].startswith("text/html")
    assert b"Session List" in response.content
    assert "'unsafe-inline'" not in response["Content-Security-Policy"]
    assert b"<style" not in response.content
    assert b"style=" not in response.content


@pytest.mark.parametrize(
    "accept",
    [None, "", "*/*", "application/json", "text/plain", "image/png", "nonsense"],
)
def test_everything_else_gets_json(
    alice: User, lab: Project, accept: str | None
) -> None:
    response = get(alice, accept)

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.json() == []


def test_a_person_who_is_not_logged_in_finds_the_login(lab: Project) -> None:
    response = Client().get(PATH, headers={"Accept": BROWSER})

    assert response.status_code == 401
    assert b'href="/login/?next=' in response.content
