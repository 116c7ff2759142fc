"""Whether the parts that a run needs are there."""

import asyncio
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError
from django.db.models.functions import Now
from redis.exceptions import RedisError

from chat.events.redis import redis
from chat.models import Run, Worker
from copilot_site.lib.orm import in_orm_thread

_SECONDS = 2.0


async def checks() -> dict[str, str]:
    """ "ok" or what is wrong, by part; bounded in time."""
    database, log = await asyncio.gather(_database(), _redis())
    worker = await _worker() if database == "ok" else "unknown"
    return {"database": database, "redis": log, "worker": worker}


async def _database() -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            await in_orm_thread(Run.objects.exists)()
    except (DatabaseError, TimeoutError):
        return "does not answer"
    return "ok"


async def _redis() -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            await redis().ping()
    except (RedisError, OSError, TimeoutError):
        return "does not answer"
    return "ok"


async def _worker() -> str:
    def alive() -> bool:
        limit = Now() - timedelta(seconds=settings.LEASE_SECONDS)
        return Worker.objects.filter(heartbeat_at__gte=limit).exists()

    try:
        async with asyncio.timeout(_SECONDS):
            return "ok" if await in_orm_thread(alive)() else "none is running"
    except (DatabaseError, TimeoutError):
        return "unknown"
