"""The mirror: what proves that a project is closed or gone, and what does not."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from projects import mirror, sync
from projects.gns3.types import Gns3Project
from projects.models import Membership, Project, Role, Server
from tests.chat.api.conftest import bearer
from tests.conftest import LAB_ID, OTHER_LAB_ID
from tests.fakes.gns3 import FakeGns3

pytestmark = pytest.mark.database


@pytest.fixture(autouse=True)
def _list_anew() -> Iterator[None]:
    sync._listed_at.clear()
    yield
    sync._listed_at.clear()


@pytest.fixture
def gns3() -> Iterator[FakeGns3]:
    with FakeGns3() as fake:
        fake.add_user("admin")
        fake.add_project(LAB_ID)
        yield fake


@pytest.fixture
def server(gns3: FakeGns3, transactional_db: None, monkeypatch: Any) -> Server:
    """With a service account; its login is a token that the fake knows."""

    def answer(
        method: str, path: str, token: str, body: Any, plain: Any = gns3.answer
    ) -> Any:
        if path == "/v3/access/users/authenticate":
            return 200, {"access_token": gns3.token("admin"), "token_type": "bearer"}
        return plain(method, path, token, body)

    monkeypatch.setattr(gns3, "answer", answer)
    return Server.objects.create(
        name="real", url=gns3.url, username="admin", password="of-the-service"
    )


@pytest.fixture
def owner(alice: User, lab: Project) -> Client:
    Membership.objects.update(role=Role.OWNER)
    return Client(headers=bearer(alice))


def listed(client: Client) -> list[str]:
    sync._listed_at.clear()
    return [project["project_id"] for project in client.get("/v3/projects").json()]


def test_a_project_deleted_in_gns3_is_hidden_when_the_list_is_read(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    assert listed(owner) == [LAB_ID]

    gns3.projects.clear()

    assert listed(owner) == []
    lab.refresh_from_db()
    assert lab.deleted_at is not None


def test_a_project_deleted_in_gns3_is_hidden_when_it_is_used(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    gns3.projects.clear()

    assert owner.get(f"/v3/projects/{LAB_ID}").status_code == 404
    assert owner.get(f"/v3/projects/{LAB_ID}/chat/sessions").status_code == 404


def test_an_empty_list_proves_nothing(
    gns3: FakeGns3, owner: Client, lab: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = gns3.answer

    def answer(method: str, path: str, token: str, body: Any) -> Any:
        if path == "/v3/projects":
            return 200, []
        return plain(method, path, token, body)

    monkeypatch.setattr(gns3, "answer", answer)

    assert listed(owner) == [LAB_ID]


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_server_that_does_not_say_404_proves_nothing(
    gns3: FakeGns3, owner: Client, lab: Project, status: int
) -> None:
    gns3.status = status

    assert listed(owner) == [LAB_ID]
    assert owner.get(f"/v3/projects/{LAB_ID}").status_code == 200


def test_a_project_that_is_there_again_is_shown_again(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    kept = dict(gns3.projects)
    gns3.projects.clear()
    assert listed(owner) == []

    gns3.projects.update(kept)

    assert listed(owner) == [LAB_ID]


def test_the_same_id_on_another_server_is_another_project(
    gns3: FakeGns3, owner: Client, lab: Project, alice: User
) -> None:
    other = Server.objects.create(name="other", url="http://127.0.0.1:9")
    twin = Project.objects.create(server=other, project_id=LAB_ID, name="Twin")
    Membership.objects.create(project=twin, user=alice, role=Role.OWNER)

    answer = owner.delete(f"/v3/projects/{LAB_ID}", headers={"X-GNS3-Server": "real"})

    assert answer.status_code == 204
    lab.refresh_from_db()
    twin.refresh_from_db()
    assert lab.deleted_at is not None
    assert twin.deleted_at is None


def test_only_an_owner_deletes(gns3: FakeGns3, owner: Client, lab: Project) -> None:
    Membership.objects.update(role=Role.ENGINEER)
    refused = owner.delete(f"/v3/projects/{LAB_ID}")
    Membership.objects.update(role=Role.OWNER)
    gone = owner.delete(f"/v3/projects/{LAB_ID}")

    assert (refused.status_code, gone.status_code) == (403, 204)
    assert gns3.projects == {}
    lab.refresh_from_db()
    assert lab.deleted_by == "alice"


def test_a_deletion_that_gns3_refuses_changes_nothing(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    gns3.status = 503

    assert owner.delete(f"/v3/projects/{LAB_ID}").status_code == 502

    lab.refresh_from_db()
    assert lab.deleted_at is None


def test_deleting_what_is_gone_in_gns3_already_succeeds(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    gns3.projects.clear()

    assert owner.delete(f"/v3/projects/{LAB_ID}").status_code == 204

    lab.refresh_from_db()
    assert lab.deleted_at is not None


def create(client: Client, name: object = "New", **headers: str) -> Any:
    return client.post(
        "/v3/projects",
        {"name": name},
        content_type="application/json",
        headers=headers,
    )


def test_an_engineer_by_default_makes_a_project_and_owns_it(
    gns3: FakeGns3, owner: Client, server: Server
) -> None:
    refused = create(owner)
    server.default_role = Role.ENGINEER
    server.save()
    made = create(owner)

    assert refused.status_code == 403
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["role"]) == ("New", "owner")
    assert len(gns3.projects) == 2


@pytest.mark.parametrize("name", ["", "  ", None, 7, "x" * 256])
def test_a_project_needs_a_name(owner: Client, server: Server, name: object) -> None:
    assert create(owner, name).status_code == 422


def test_with_several_servers_the_new_projects_is_named(
    gns3: FakeGns3, owner: Client, server: Server
) -> None:
    Server.objects.create(name="other", url="http://127.0.0.1:9")
    Server.objects.update(default_role=Role.ENGINEER)

    assert create(owner).status_code == 409
    assert create(owner, **{"X-GNS3-Server": "real"}).status_code == 201
    assert create(owner, **{"X-GNS3-Server": "none"}).status_code == 404


def test_an_old_answer_does_not_close_what_was_opened_meanwhile(
    server: Server, lab: Project
) -> None:
    asked_at = timezone.now() - timedelta(seconds=2)
    stale = Gns3Project(LAB_ID, "Campus", "closed")
    new = Gns3Project(OTHER_LAB_ID, "Other", "closed")

    mirror.store(server, [stale, new], asked_at=asked_at)

    lab.refresh_from_db()
    assert lab.is_opened
    assert Project.objects.filter(project_id=OTHER_LAB_ID).exists()


def test_closing_and_opening_is_mirrored(
    gns3: FakeGns3, owner: Client, lab: Project
) -> None:
    closed = owner.post(f"/v3/projects/{LAB_ID}/close").json()
    opened = owner.post(f"/v3/projects/{LAB_ID}/open").json()

    assert (closed["status"], opened["status"]) == ("closed", "opened")
    lab.refresh_from_db()
    assert lab.is_opened
