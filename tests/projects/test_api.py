"""Projects in GNS3's shape; GNS3 is faked at its transport."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from rest_framework_simplejwt.tokens import RefreshToken

from copilot_site.lib.orm import in_orm_thread
from projects import connections, sync
from projects.gns3.client import Gns3Client
from projects.models import Membership, Project, Role, Server
from tests.conftest import LAB_ID, OTHER_LAB_ID

NODES = [
    {
        "node_id": f"aaaaaaaa-0000-4000-8000-00000000000{number}",
        "name": f"PC{number}",
        "node_type": "vpcs",
        "status": "started",
        "console": 5000 + number,
        "console_host": "127.0.0.1",
        "console_type": "telnet",
        "x": number * 100,
        "y": 0,
        "ports": [
            {
                "name": "Ethernet0",
                "short_name": "e0",
                "adapter_number": 0,
                "port_number": 0,
            }
        ],
    }
    for number in (1, 2)
]
LINK = {
    "link_id": "bbbbbbbb-0000-4000-8000-000000000001",
    "suspend": False,
    "nodes": [
        {"node_id": node["node_id"], "adapter_number": 0, "port_number": 0}
        for node in NODES
    ],
}


class FakeGns3:
    """One server with one project."""

    def __init__(self) -> None:
        self.status = "opened"
        self.is_up = True
        self.projects = [LAB_ID]
        self.requests: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v3")
        self.requests.append(f"{request.method} {path}")
        if not self.is_up:
            raise httpx.ConnectError("refused")
        project = {"project_id": LAB_ID, "name": "Campus", "status": self.status}
        one = f"/projects/{LAB_ID}"
        if path in (f"{one}/open", f"{one}/close"):
            self.status = "opened" if path.endswith("open") else "closed"
            return httpx.Response(201, json={**project, "status": self.status})
        answers: dict[str, Any] = {
            "/access/users/authenticate": {"access_token": "t", "token_type": "bearer"},
            "/version": {"version": "3.0.6"},
            "/projects": [{**project, "project_id": key} for key in self.projects],
            one: project,
            f"{one}/nodes": NODES,
            f"{one}/links": [LINK],
        }
        if path in answers and (path != one or LAB_ID in self.projects):
            return httpx.Response(200, json=answers[path])
        return httpx.Response(404, json={"message": "Project not found"})


@pytest.fixture
def gns3(monkeypatch: pytest.MonkeyPatch, server: Server) -> FakeGns3:
    fake = FakeGns3()

    def client(url: str, **fields: Any) -> Gns3Client:
        return Gns3Client(url, transport=httpx.MockTransport(fake), **fields)

    Server.objects.update(username="service", password="service-password")
    monkeypatch.setattr(connections, "Gns3Client", client)
    monkeypatch.setattr(sync, "_listed_at", {})
    return fake


Get = Callable[..., Any]


@pytest.fixture
def ask(alice: User) -> Get:
    token = str(RefreshToken.for_user(alice).access_token)

    async def ask(path: str, method: str = "get") -> Any:
        send = getattr(AsyncClient(), method)
        return await send(
            f"/v3/projects{path}", headers={"Authorization": f"Bearer {token}"}
        )

    return ask


async def test_the_list_shows_where_a_project_is_and_my_role(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    (shown,) = (await ask("")).json()

    assert shown["project_id"] == LAB_ID
    assert (shown["name"], shown["status"]) == ("Campus", "opened")
    assert shown["server"] == {"name": "lab-server", "is_simulated": False}
    assert shown["role"] == "engineer"


async def test_a_server_that_does_not_answer_keeps_its_projects(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    gns3.is_up = False

    response = await ask("")

    assert [project["project_id"] for project in response.json()] == [LAB_ID]
    assert response["X-Servers-Unreachable"] == "lab-server"


async def test_a_project_of_the_server_is_nobodys_until_it_has_members(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    gns3.projects = [LAB_ID, OTHER_LAB_ID]

    assert len((await ask("")).json()) == 1
    assert await Project.objects.filter(project_id=OTHER_LAB_ID).aexists()
    await Server.objects.aupdate(default_role=Role.VIEWER)
    shown = {
        project["project_id"]: project["role"] for project in (await ask("")).json()
    }
    assert shown == {LAB_ID: "engineer", OTHER_LAB_ID: "viewer"}


async def test_closing_and_opening_act_on_the_server(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    closed = await ask(f"/{LAB_ID}/close", "post")
    opened = await ask(f"/{LAB_ID}/open", "post")

    assert (closed.json()["status"], opened.json()["status"]) == ("closed", "opened")
    assert f"POST /projects/{LAB_ID}/close" in gns3.requests


@pytest.mark.parametrize(
    ("role", "opens", "closes"),
    [(Role.VIEWER, 403, 403), (Role.MEMBER, 200, 403), (Role.ENGINEER, 200, 200)],
)
async def test_opening_and_closing_need_a_role(
    gns3: FakeGns3, lab: Project, ask: Get, role: Role, opens: int, closes: int
) -> None:
    await Membership.objects.aupdate(role=role)

    assert (await ask(f"/{LAB_ID}/open", "post")).status_code == opens
    assert (await ask(f"/{LAB_ID}/close", "post")).status_code == closes


async def test_a_topology_names_ports_on_links(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    shown = (await ask(f"/{LAB_ID}/topology")).json()

    assert [node["name"] for node in shown["nodes"]] == ["PC1", "PC2"]
    assert [end["port"] for end in shown["links"][0]["ends"]] == ["Ethernet0"] * 2
    assert shown["is_simulated"] is False
    assert "service-password" not in str(shown)


async def test_a_picture_runs_nothing(gns3: FakeGns3, lab: Project, ask: Get) -> None:
    response = await ask(f"/{LAB_ID}/topology.svg")

    assert response["Content-Type"] == "image/svg+xml"
    assert b"PC1" in response.content
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert "script" not in response["Content-Security-Policy"]


async def test_an_unreachable_server_is_a_502_in_words(
    gns3: FakeGns3, lab: Project, ask: Get
) -> None:
    gns3.is_up = False

    response = await ask(f"/{LAB_ID}/topology")

    assert response.status_code == 502
    assert set(response.json()) >= {"code", "message"}


async def test_one_id_on_two_servers_needs_the_servers_name(
    lab: Project, alice: User, gns3: FakeGns3
) -> None:
    def twin() -> None:
        other = Server.objects.create(name="second", url="http://127.0.0.1:9")
        project = Project.objects.create(
            server=other, project_id=LAB_ID, name="Twin", status="opened"
        )
        Membership.objects.create(project=project, user=alice, role=Role.MEMBER)

    await in_orm_thread(twin)()
    token = {"Authorization": f"Bearer {RefreshToken.for_user(alice).access_token}"}
    path = f"/v3/projects/{LAB_ID}/chat/sessions"

    ambiguous = await AsyncClient().get(path, headers=token)
    named = await AsyncClient().get(path, headers={**token, "X-GNS3-Server": "second"})

    assert (ambiguous.status_code, ambiguous.json()["code"]) == (
        409,
        "project_ambiguous",
    )
    assert named.status_code == 200
