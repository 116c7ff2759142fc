"""Servers with write-only passwords, projects, and people's roles."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.models import Membership, Project, Role, Server

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-password-wxyz"
MODELS = ["projects_server", "projects_project", "projects_membership", "auth_user"]


@pytest.fixture
def server() -> Server:
    return Server.objects.create(
        name="Lab", url="http://gns3:3080", username="admin", password=PASSWORD
    )


def listed(model: str) -> str:
    return reverse(f"admin:{model}_changelist")


def page_of(server: Server) -> str:
    return reverse("admin:projects_server_change", args=[server.pk])


def form(**changes: object) -> dict[str, object]:
    return {
        "name": "Lab",
        "url": "http://gns3:3080",
        "username": "admin",
        "access": "service",
        "default_role": "",
        "is_enabled": "on",
        **changes,
    }


def member(server: Server, number: int) -> Membership:
    project = Project.objects.create(
        server=server, project_id=f"project-{number}", name=f"Project {number}"
    )
    user = User.objects.create_user(f"user{number}")
    return Membership.objects.create(project=project, user=user, role=Role.MEMBER)


@pytest.mark.parametrize("model", MODELS)
def test_only_operators_come_in(client: Client, model: str) -> None:
    anonymous = client.get(listed(model))
    client.force_login(User.objects.create_user("bob"))
    stranger = client.get(listed(model))

    for answer in (anonymous, stranger):
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]


@pytest.mark.parametrize("model", MODELS)
def test_a_list_asks_as_many_queries_for_thirty_rows_as_for_one(
    admin_client: Client, server: Server, model: str
) -> None:
    member(server, 0)
    admin_client.get(listed(model))
    with CaptureQueriesContext(connection) as few:
        admin_client.get(listed(model))
    for number in range(1, 31):
        member(server, number)

    with CaptureQueriesContext(connection) as many:
        answer = admin_client.get(listed(model))

    assert answer.status_code == 200
    assert len(many) == len(few)


def test_no_page_shows_the_password(admin_client: Client, server: Server) -> None:
    pages = [
        admin_client.get(page_of(server)),
        admin_client.get(listed("projects_server")),
        admin_client.post(page_of(server), form(new_secret=PASSWORD, url="nonsense")),
    ]

    assert "…wxyz" in pages[0].content.decode()
    for page in pages:
        assert PASSWORD not in page.content.decode()


def test_an_empty_password_keeps_the_old(admin_client: Client, server: Server) -> None:
    admin_client.post(page_of(server), form(username="copilot"))

    server.refresh_from_db()
    assert (server.username, server.password) == ("copilot", PASSWORD)


def test_a_new_password_replaces_the_old(admin_client: Client, server: Server) -> None:
    admin_client.post(page_of(server), form(new_secret="another password"))

    server.refresh_from_db()
    assert server.password == "another password"


def test_a_host_without_a_dot_is_an_address(
    admin_client: Client, server: Server
) -> None:
    admin_client.post(page_of(server), form(url="http://gns3-server:3080/"))

    server.refresh_from_db()
    assert server.url == "http://gns3-server:3080"


@pytest.mark.parametrize("url", ["gns3:3080", "file:///etc", "http://u:p@gns3:3080"])
def test_an_address_that_cannot_be_one_is_refused(
    admin_client: Client, server: Server, url: str
) -> None:
    admin_client.post(page_of(server), form(url=url))

    server.refresh_from_db()
    assert server.url == "http://gns3:3080"


def test_a_role_is_given_on_the_project_page(
    admin_client: Client, server: Server
) -> None:
    project = Project.objects.create(server=server, project_id="p", name="Campus")
    user = User.objects.create_user("alice")

    admin_client.post(
        reverse("admin:projects_project_change", args=[project.pk]),
        {
            "server": server.pk,
            "project_id": "p",
            "name": "Campus",
            "status": "closed",
            "memberships-TOTAL_FORMS": 1,
            "memberships-INITIAL_FORMS": 0,
            "memberships-0-user": user.pk,
            "memberships-0-role": "engineer",
        },
    )

    assert project.role_of(user) == Role.ENGINEER


def test_a_user_page_shows_the_roles(admin_client: Client, server: Server) -> None:
    membership = member(server, 1)
    url = reverse("admin:auth_user_change", args=[membership.user_id])

    page = admin_client.get(url).content.decode()

    assert "Project 1" in page


def test_servers_are_disabled_and_enabled(admin_client: Client, server: Server) -> None:
    states = []
    for action in ("disable", "enable"):
        data = {"action": action, "_selected_action": [server.pk]}
        admin_client.post(listed("projects_server"), data)
        server.refresh_from_db()
        states.append(server.is_enabled)

    assert states == [False, True]
