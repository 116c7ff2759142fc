"""Profiles over HTTP: which I may use, and asking with one."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from chat.models import ChatSession
from chat.profiles.loading import load, shipped_files
from chat.profiles.models import Profile
from projects.models import Project
from tests.chat.support import make_run, make_session
from tests.conftest import LAB_ID

pytestmark = pytest.mark.django_db
CHAT = f"/v3/projects/{LAB_ID}/chat"


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load(shipped_files())


@pytest.fixture
def hers(alice: User, lab: Project, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr("chat.runs.publish", lambda run: True)
    client = Client()
    client.force_login(alice)
    return client


def ask(client: Client, **body: Any) -> Any:
    return client.post(
        f"{CHAT}/stream",
        {"message": "Why?", **body},
        content_type="application/json",
        headers={"Prefer": "respond-async"},
    )


def test_the_list_has_what_a_client_needs_to_offer_them(hers: Client) -> None:
    first, *others = hers.get("/v3/profiles").json()

    assert first["name"] == "lab"
    assert first["is_default"] is True
    assert first["title"] == "Lab automation"
    assert first["agent"] == "lab"
    assert "create_nodes" in first["tools"]
    assert first["questions"]
    assert [one["name"] for one in others] == ["analyst", "campus", "teaching"]
    assert others[1]["agent"] == "grounded"


@pytest.mark.parametrize(
    ("language", "title"),
    [("de", "Lernbegleitung"), ("zh-hans", "教学助手"), ("fr", "Teaching assistant")],
)
def test_texts_come_in_my_language(hers: Client, language: str, title: str) -> None:
    found = hers.get("/v3/profiles", headers={"Accept-Language": language}).json()

    assert found[-1]["title"] == title


def test_only_those_i_may_use_are_listed(hers: Client, alice: User) -> None:
    teachers = Group.objects.create(name="Teachers")
    Profile.objects.get(slug="teaching").groups.add(teachers)
    Profile.objects.filter(slug="campus").update(is_enabled=False)

    names = [one["name"] for one in hers.get("/v3/profiles").json()]

    assert names == ["lab", "analyst"]


def test_an_unknown_profile_is_422_with_the_known_ones(hers: Client) -> None:
    answer = ask(hers, profile="nobody")

    assert answer.status_code == 422
    assert answer.json()["code"] == "profile_unknown"
    assert "lab, analyst, campus, teaching" in answer.json()["message"]
    assert not ChatSession.objects.exists()


def test_a_session_and_its_runs_say_their_profile(hers: Client) -> None:
    asked = ask(hers, profile="teaching").json()
    path = f"{CHAT}/sessions/{asked['session_id']}"

    assert hers.get(path).json()["profile"] == "teaching"
    (run,) = hers.get(f"{path}/runs").json()
    assert (run["profile"], run["profile_version"]) == ("teaching", 1)


def test_the_list_says_each_sessions_profile_in_as_many_queries(
    hers: Client, alice: User, lab: Project, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        session = make_session(alice, lab)
        if number:
            make_run(session, status="succeeded", profile="teaching")
    hers.get(f"{CHAT}/sessions")

    with django_assert_max_num_queries(7):
        rows = hers.get(f"{CHAT}/sessions").json()

    assert sorted(row["profile"] for row in rows) == ["lab", *["teaching"] * 4]


def test_a_stranger_sees_profiles_but_nobody_unknown_does(bob: User) -> None:
    assert Client().get("/v3/profiles").status_code == 401
