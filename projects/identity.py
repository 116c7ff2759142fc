"""Users of GNS3 servers: known by their server's token, checked at that server alone.

The token is never stored but encrypted with a run; what was found out is kept for
seconds, under a keyed hash of it.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from copilot_site.bearer import Place, claims_of, is_of_gns3
from copilot_site.identity import Gns3Login, Identity, NotAuthenticated
from copilot_site.lib.errors import Unavailable, UserFacingError
from projects.gns3.client import Gns3Client
from projects.gns3.errors import Gns3AuthFailed, Gns3Error, Gns3Unreachable
from projects.gns3.types import Gns3User
from projects.models import Gns3Identity, Project, Server

_CHECK_SECONDS = 3.0
_KNOWN_SECONDS = 60
_REFUSED_SECONDS = 5
# More than these would only wait behind each other at the server.
_AT_ONCE = 4

_asking: dict[int, int] = {}
_lock = Lock()


class Gns3Busy(Unavailable):
    code = "gns3_busy"


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a token was not believed, so that it is not asked again at once."""

    error: UserFacingError


def identity_of(raw: str, place: Place) -> Identity | None:
    """None for a token of another kind.

    Raises NotAuthenticated, Gns3Error (the server can't say), Gns3Busy.
    """
    if not is_of_gns3(raw):
        return None
    expires_at = _expiry(raw)
    server = _server_of(place)
    account = _account(server, raw)
    user = _user_of(server, account)
    if not user.is_active:
        raise NotAuthenticated("This user is not active.")
    return Identity(
        user,
        expires_at=expires_at,
        kind="gns3",
        gns3=Gns3Login(server.pk, account.is_superadmin, raw),
        holds=lambda: _still_holds(server, raw),
    )


def cache_key(server: Server, token: str, *what: str) -> str:
    """No cache, and nobody who reads one, ever sees a token."""
    value = "\0".join((str(server.pk), server.url, *what, token))
    digest = salted_hmac("projects.identity", value, algorithm="sha256").hexdigest()
    return f"gns3:{digest}"


def ask_gns3(server: Server, token: str, act: Callable[[Gns3Client], Any]) -> Any:
    """One bounded question in the name of the token; what it raises, `act` raised."""

    async def ask() -> Any:
        async with Gns3Client(
            server.url, token=token, timeout=_CHECK_SECONDS, action_timeout=0
        ) as client:
            async with asyncio.timeout(_CHECK_SECONDS):
                return await act(client)

    with _lock:
        if _asking.get(server.pk, 0) >= _AT_ONCE:
            raise Gns3Busy("The GNS3 server is busy. Try again in a moment.")
        _asking[server.pk] = _asking.get(server.pk, 0) + 1
    try:
        return async_to_sync(ask)()
    except TimeoutError:
        raise Gns3Unreachable(
            f"The GNS3 server “{server.name}” does not answer in time."
        ) from None
    finally:
        with _lock:
            _asking[server.pk] -= 1


def _expiry(raw: str) -> datetime:
    """GNS3 3.0 believes expired tokens, and those that never expire; we do not."""
    expiry = (claims_of(raw) or {}).get("exp")
    if isinstance(expiry, bool) or not isinstance(expiry, int | float):
        raise NotAuthenticated("This GNS3 token has no expiry. Log in to GNS3 again.")
    if expiry <= time.time():
        raise NotAuthenticated("Your GNS3 login has expired. Log in to GNS3 again.")
    try:
        return datetime.fromtimestamp(expiry, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC)


def _server_of(place: Place) -> Server:
    """The named one, the project's own, or the only one; no token goes elsewhere."""
    servers = Server.objects.filter(is_enabled=True)
    if place.server:
        found = list(servers.filter(name=place.server))
    elif place.project_id:
        known = Project.objects.present().filter(project_id=place.project_id.lower())
        found = list(servers.filter(pk__in=known.values("server")))
    else:
        found = []
    if not found and not place.server:
        found = list(servers[:2])
    if len(found) != 1:
        raise NotAuthenticated(
            "Of which GNS3 server is this token? Name it in the header X-GNS3-Server."
        )
    return found[0]


def _account(server: Server, token: str) -> Gns3User:
    """Whose the token is, by its server's word. Raises as `identity_of` does."""
    cache, key, down = caches["local"], cache_key(server, token), f"down:{server.pk}"
    known = cache.get(key) or cache.get(down)
    if isinstance(known, _Refused):
        raise known.error
    if isinstance(known, Gns3User):
        return known
    try:
        account: Gns3User = ask_gns3(server, token, lambda client: client.me())
    except Gns3AuthFailed:
        refusal = NotAuthenticated("The GNS3 server does not accept this token.")
        cache.set(key, _Refused(refusal), _REFUSED_SECONDS)
        raise refusal from None
    except Gns3Error as error:
        # Out of reach for one is so for all: nobody else has to wait for that.
        is_down = isinstance(error, Gns3Unreachable)
        cache.set(down if is_down else key, _Refused(error), _REFUSED_SECONDS)
        raise
    cache.set(key, account, _KNOWN_SECONDS)
    return account


def _user_of(server: Server, account: Gns3User) -> User:
    """Made on first sight; never a user that somebody made here by that name."""
    rows = Gns3Identity.objects.select_related("user").filter(
        server=server, gns3_user_id=account.user_id
    )
    known = rows.first()
    if known is None:
        try:
            with transaction.atomic():
                known = _create(server, account)
        except IntegrityError:
            # Seen twice at once; or the name is taken, and then it is not theirs.
            known = rows.first()
    if known is None:
        raise NotAuthenticated("This GNS3 user can't be known here.")
    user = known.user
    if user.is_staff or user.is_superuser:
        # A GNS3 server's word opens no admin.
        user.is_staff = user.is_superuser = False
    return user


def _create(server: Server, account: Gns3User) -> Gns3Identity:
    user = User(
        username=f"gns3:{server.pk}:{account.user_id}",
        first_name=account.username[:150],
    )
    user.set_unusable_password()
    user.save(force_insert=True)
    return Gns3Identity.objects.create(
        server=server,
        gns3_user_id=account.user_id,
        gns3_username=account.username[:150],
        user=user,
    )


def _still_holds(server: Server, token: str) -> bool:
    """False once the server refuses it; one that does not answer proves nothing."""
    try:
        _account(server, token)
    except NotAuthenticated:
        return False
    except UserFacingError:
        return True
    return Server.objects.filter(pk=server.pk, is_enabled=True).exists()
