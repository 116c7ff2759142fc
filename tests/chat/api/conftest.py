"""Clients of alice, of a stranger and of nobody; tokens."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from rest_framework_simplejwt.tokens import RefreshToken


def bearer(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {RefreshToken.for_user(user).access_token}"}


@pytest.fixture
def browser(alice: User) -> Client:
    """Alice by her session cookie; CSRF is checked, as in a browser."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    return client


@pytest.fixture
def client(alice: User) -> Client:
    """Alice by a bearer token."""
    return Client(enforce_csrf_checks=True, headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(bob))


class BearerClient(AsyncClient):
    """Django's own takes no headers for all requests."""

    def __init__(self, user: User) -> None:
        super().__init__(enforce_csrf_checks=True)
        self._header = bearer(user)["Authorization"].encode()

    async def request(self, **scope: Any) -> Any:
        headers = [*scope.pop("headers"), (b"authorization", self._header)]
        return await super().request(headers=headers, **scope)


@pytest.fixture
def async_client(alice: User) -> AsyncClient:
    return BearerClient(alice)
