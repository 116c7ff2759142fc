"""The short way from a stop button to the worker; the row is the sure way."""

import logging

import redis
from django.conf import settings

from chat.models import Run

logger = logging.getLogger(__name__)

STOP_CHANNEL = "copilot:stop"

_client: redis.Redis | None = None


def signal_stop(run: Run) -> None:
    """Tell all workers; the one that executes the run acts."""
    global _client
    if _client is None:
        _client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1
        )
    try:
        _client.publish(STOP_CHANNEL, f"{run.pk} {run.attempt} {run.reason}")
    except (redis.RedisError, OSError):
        logger.warning("No stop signal; the worker will see the row")
