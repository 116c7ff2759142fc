"""Two users of a real GNS3 server: its RBAC decides who sees the project here."""

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from django.core.cache import caches
from django.test import Client

from projects.models import Gns3Identity, Server
from tests.gns3_lab.rig import Gns3Server

pytestmark = [
    pytest.mark.gns3,
    pytest.mark.needs("gns3", "vpcs"),
    pytest.mark.django_db(transaction=True),
]

PASSWORD = "of-a-user-of-gns3"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    caches["local"].clear()
    yield
    caches["local"].clear()


class Admin:
    """The server's administrator."""

    def __init__(self, server: Gns3Server) -> None:
        self._url = server.url
        self._token = self.token_of(server.username, server.password)

    def call(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        request = urllib.request.Request(
            f"{self._url}/v3{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        if bearer := token or getattr(self, "_token", ""):
            request.add_header("Authorization", f"Bearer {bearer}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def token_of(self, username: str, password: str = PASSWORD) -> str:
        login = {"username": username, "password": password}
        return str(
            self.call("POST", "/access/users/authenticate", login)["access_token"]
        )

    def add_user(self, username: str) -> str:
        """The new user's id."""
        user = {"username": username, "password": PASSWORD}
        return str(self.call("POST", "/access/users", user)["user_id"])

    def share(self, project_id: str, user_id: str, role: str) -> None:
        roles = self.call("GET", "/access/roles")
        (role_id,) = [each["role_id"] for each in roles if each["name"] == role]
        entry = {
            "ace_type": "user",
            "path": f"/projects/{project_id}",
            "user_id": user_id,
            "role_id": role_id,
            "propagate": True,
            "allowed": True,
        }
        self.call("POST", "/access/acl", entry)


@pytest.fixture
def admin(gns3_server: Gns3Server) -> Admin:
    return Admin(gns3_server)


@pytest.fixture
def server(gns3_server: Gns3Server, transactional_db: None) -> Server:
    """GNS3 decides; we have no account there."""
    return Server.objects.create(
        name="real", url=gns3_server.url, access=Server.Access.PER_USER
    )


def client_of(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_gns3_shows_its_project_to_whom_it_likes(admin: Admin, server: Server) -> None:
    project = admin.call("POST", "/projects", {"name": "shared", "auto_close": False})
    path = f"/v3/projects/{project['project_id']}"
    for name in ("carol", "dave", "erin"):
        user_id = admin.add_user(name)
        if name != "dave":
            role = "User" if name == "carol" else "Auditor"
            admin.share(project["project_id"], user_id, role)
    carol, dave, erin = (
        client_of(admin.token_of(name)) for name in ("carol", "dave", "erin")
    )
    try:
        seen = {
            "carol": carol.get(path),
            "dave": dave.get(path),
            "erin": erin.get(path),
        }
        sessions = [
            each.get(f"{path}/chat/sessions").status_code for each in (carol, dave)
        ]
        listed = carol.get("/v3/projects").json()
        refused = erin.post(f"{path}/close")
        topology = carol.get(f"{path}/topology")
    finally:
        admin.call("DELETE", f"/projects/{project['project_id']}")
    caches["local"].clear()
    gone = carol.get(path)

    assert {name: answer.status_code for name, answer in seen.items()} == {
        "carol": 200,
        "dave": 404,
        "erin": 200,
    }
    assert seen["carol"].json()["role"] == "engineer"
    assert seen["erin"].json()["role"] == "viewer"
    assert sessions == [200, 404]
    assert [each["name"] for each in listed] == ["shared"]
    assert refused.status_code == 403
    assert topology.status_code == 200
    assert gone.status_code == 404
    assert Gns3Identity.objects.count() == 3


def test_an_expired_token_that_gns3_still_takes_is_refused_here(
    admin: Admin, server: Server
) -> None:
    admin.add_user("frank")
    token = admin.token_of("frank")
    claims = jwt.decode(token, options={"verify_signature": False})

    good = client_of(token).get("/v3/access/users/me")
    assert claims["exp"] > time.time()
    assert good.status_code == 200
    assert good.json()["full_name"] == "frank"

    header, _, signature = token.split(".")
    old = jwt.encode({**claims, "exp": 1}, "x" * 32, algorithm="HS256").split(".")[1]
    answers = [
        client_of(f"{header}.{old}.{signature}").get("/v3/me"),
        client_of(f"{token[:-4]}AAAA").get("/v3/me"),
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert "expired" in answers[0].json()["message"]
