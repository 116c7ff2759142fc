"""GNS3 clients, kept: a login costs the server a third of a second."""

import asyncio
import hashlib
import math
from collections import OrderedDict
from weakref import WeakKeyDictionary

from copilot_site.bearer import claims_of
from copilot_site.lib.secret_values import remember
from projects.gns3.client import Gns3Client
from projects.models import Server

_KEPT = 100

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[str, Gns3Client]] = (
    WeakKeyDictionary()
)
_closing: set[asyncio.Task[None]] = set()


def client_for(server: Server, *, token: str = "") -> Gns3Client:
    """Acts with the token where there is one, else as the service account.

    Shared by all of the running event loop: it is not for the caller to close.
    """
    clients = _clients.setdefault(asyncio.get_running_loop(), OrderedDict())
    account = (token,) if token else (server.username, server.password)
    # A changed address or account is another client.
    identity = "\0".join((str(server.pk), server.url, *account))
    key = hashlib.sha256(identity.encode()).hexdigest()
    client = clients.get(key)
    if client is None:
        client = clients[key] = Gns3Client(
            server.url,
            username="" if token else server.username,
            password="" if token else remember(server.password),
            token=remember(token),
            token_expires_at=_expiry(token),
        )
        if len(clients) > _KEPT:
            _, oldest = clients.popitem(last=False)
            task = asyncio.create_task(oldest.aclose())
            _closing.add(task)
            task.add_done_callback(_closing.discard)
    clients.move_to_end(key)
    return client


def _expiry(token: str) -> float:
    """Of a person's token; the service account's are renewed."""
    expiry = (claims_of(token) or {}).get("exp") if token else None
    return float(expiry) if isinstance(expiry, int | float) else math.inf
