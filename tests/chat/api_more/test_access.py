"""Endpoints here: 401 for nobody and for the inactive, 404 for a stranger."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import ChatSession
from projects.models import Membership, Project, Role
from tests.chat.api_more.conftest import CHAT

pytestmark = pytest.mark.database

ENDPOINTS = [
    ("DELETE", "/sessions"),
    ("GET", "/sessions?profile=lab&q=ping&cursor="),
    ("GET", "/sessions/{session}/export"),
    ("GET", "/sessions/{session}/export?format=json"),
    ("POST", "/messages/{message}/feedback"),
    ("DELETE", "/messages/{message}/feedback"),
]


def call(client: Client, method: str, path: str, session: ChatSession) -> int:
    message = session.messages.filter(role="assistant").last()
    address = CHAT + path.format(session=session.thread_id, message=message.pk)
    body = {"value": "up"} if method == "POST" else None
    return client.generic(
        method,
        address,
        b'{"value": "up"}' if body else b"",
        content_type="application/json",
    ).status_code


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_nobody_is_refused(method: str, path: str, answered: ChatSession) -> None:
    assert call(Client(), method, path, answered) == 401


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_an_inactive_user_is_refused(
    method: str, path: str, answered: ChatSession, hers: Client, alice: User
) -> None:
    alice.is_active = False
    alice.save()

    assert call(hers, method, path, answered) == 401


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_to_a_stranger_nothing_exists(
    method: str, path: str, answered: ChatSession, his: Client
) -> None:
    assert call(his, method, path, answered) == 404
    assert ChatSession.objects.exists()


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_another_member_reaches_their_own_only(
    method: str, path: str, answered: ChatSession, his: Client, bob: User, lab: Project
) -> None:
    Membership.objects.create(project=lab, user=bob, role=Role.OWNER)

    status = call(his, method, path, answered)

    assert status == (
        200 if path.startswith("/sessions?") or path == "/sessions" else 404
    )
    assert ChatSession.objects.filter(pk=answered.pk).exists()
