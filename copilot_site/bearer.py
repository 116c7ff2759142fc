"""Bearer tokens of all kinds: each kind's app says whose a token is."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import jwt
from asgiref.sync import SyncToAsync
from channels.db import DatabaseSyncToAsync
from django.conf import settings
from django.utils.module_loading import import_string

from copilot_site.identity import Identity, NotAuthenticated

P = ParamSpec("P")
R = TypeVar("R")

_PROJECT = re.compile(r"/projects/([0-9a-fA-F-]{32,36})(?:/|$)")
_LENGTH = 8_192

# A GNS3 server that hangs may hold these threads, never those of the database.
_waiting = ThreadPoolExecutor(max_workers=8, thread_name_prefix="bearer")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a token was sent: this tells of which GNS3 server it may be."""

    server: str = ""
    project_id: str = ""

    @classmethod
    def of(cls, path: str, server: str = "") -> "Place":
        found = _PROJECT.search(urlsplit(path).path)
        return cls(server, found[1] if found else "")


Check = Callable[[str, Place], Identity | None]


def identity_of_token(raw: str, place: Place | None = None) -> Identity:
    """Raises NotAuthenticated for a token that is wrong, expired or of no user."""
    for check in _checks(tuple(settings.BEARER_CHECKS)):
        identity = check(raw, place or Place())
        if identity is not None:
            return identity
    raise NotAuthenticated("The token is not valid, or no longer.")


def claims_of(raw: str) -> dict[str, Any] | None:
    """What a JWT says, unverified: enough to know who could verify it."""
    if raw.count(".") != 2 or len(raw) > _LENGTH:
        return None
    try:
        claims: dict[str, Any] = jwt.decode(raw, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return None
    return claims


def is_of_gns3(raw: str) -> bool:
    """Whether only a GNS3 server can verify it; ours say what type they are."""
    claims = claims_of(raw)
    return claims is not None and "token_type" not in claims and "sub" in claims


def in_waiting_thread(function: Callable[P, R]) -> SyncToAsync[P, R]:
    """As `in_orm_thread`, for work that also waits for a GNS3 server."""
    work: SyncToAsync[P, R] = DatabaseSyncToAsync(
        function, thread_sensitive=False, executor=_waiting
    )
    return work


@lru_cache(maxsize=4)
def _checks(paths: tuple[str, ...]) -> list[Check]:
    return [import_string(path) for path in paths]
