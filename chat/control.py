"""Short ways from a request to the workers and the log; rows are the sure way."""

import logging
from collections.abc import Sequence

import redis
from django.conf import settings

from chat.events.address import RunAddress
from chat.models import Run

logger = logging.getLogger(__name__)

STOP_CHANNEL = "copilot:stop"

_client: redis.Redis | None = None


def signal_stop(run: Run) -> None:
    """Tell all workers; the one that executes the run acts."""
    try:
        _redis().publish(STOP_CHANNEL, f"{run.pk} {run.attempt} {run.reason}")
    except (redis.RedisError, OSError):
        logger.warning("No stop signal; the worker will see the row")


def forget_logs(addresses: Sequence[RunAddress]) -> None:
    """Remove what the logs of deleted runs hold; else they live for their grace."""
    if not addresses:
        return
    try:
        _redis().delete(*(address.key for address in addresses))
    except (redis.RedisError, OSError):
        logger.warning("Event logs of deleted runs stay until they expire")


def _redis() -> redis.Redis:
    global _client
    if _client is None:
        _client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1
        )
    return _client
