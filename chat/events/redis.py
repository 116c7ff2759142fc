"""Connections to Redis, one pool per event loop."""

import asyncio
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio import BlockingConnectionPool, Redis

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, "Redis"] = WeakKeyDictionary()


def redis() -> "Redis":
    """The loop's client; calls fail within seconds when Redis is gone."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        pool = BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=64,
            timeout=5,
            socket_timeout=5,
            socket_connect_timeout=2,
        )
        client = _clients[loop] = Redis(connection_pool=pool)
    return client
