"""My notes over REST and on the page."""

import uuid

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from chat.memory.models import Memory
from chat.memory.notes import remember
from projects.models import Project
from tests.chat.api.conftest import bearer
from tests.conftest import LAB_ID

PATH = "/v3/memory"


@pytest.fixture
def client(alice: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(bob))


def post(client: Client, **body: object) -> object:
    return client.post(PATH, body, content_type="application/json")


def test_a_note_is_added_read_and_erased(client: Client, lab: Project) -> None:
    made = post(client, text="  I like tea.  ").json()
    post(client, text="R1 is the border.", project_id=LAB_ID)

    listed = client.get(PATH).json()

    assert (made["text"], made["project"]) == ("I like tea.", None)
    assert (listed["count"], listed["limit"]) == (2, 200)
    assert listed["notes"][0]["project"] == {"project_id": LAB_ID, "name": "Campus"}
    found = client.get(PATH, {"q": "tea"}).json()["notes"]
    assert [note["id"] for note in found] == [made["id"]]
    assert client.delete(f"{PATH}/{made['id']}").status_code == 204
    assert client.delete(f"{PATH}/{made['id']}").status_code == 404
    assert client.delete(PATH).json() == {"deleted": 1}
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": "x" * 2001}, {"text": "x", "project_id": "y"}]
)
def test_what_does_not_validate_is_422(client: Client, body: dict) -> None:
    assert post(client, **body).status_code == 422
    assert not Memory.objects.exists()


def test_a_stranger_finds_nothing(
    client: Client, stranger: Client, alice: User, lab: Project
) -> None:
    note = remember(alice, "Of alice alone")

    assert stranger.get(PATH).json()["notes"] == []
    for wrong in (note.pk, uuid.uuid4(), "not-an-id"):
        assert stranger.delete(f"{PATH}/{wrong}").status_code == 404
    assert stranger.delete(PATH).json() == {"deleted": 0}
    assert post(stranger, text="x", project_id=LAB_ID).status_code == 404
    assert Memory.objects.get() == note


def test_nobody_is_asked_to_log_in(transactional_db: None) -> None:
    assert Client().get(PATH).status_code == 401
    assert post(Client(), text="x").status_code == 401
    assert Client().delete(PATH).status_code == 401
    assert Client().get("/settings/memory/").url == "/login/?next=/settings/memory/"


def test_operators_see_whose_notes_there_are_but_not_what_they_say(
    alice: User, bob: User
) -> None:
    note = remember(alice, "Only for me")
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(Permission.objects.get(codename="view_memory"))
    client = Client()
    client.force_login(bob)

    for path in ("", f"{note.pk}/change/"):
        page = client.get(f"/admin/memory/memory/{path}")
        assert page.status_code == 200
        assert "Only for me" not in page.text
