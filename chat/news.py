"""What a user's other windows should hear of, on a channel of their own."""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from chat.events.address import user_group
from chat.models import Run

logger = logging.getLogger(__name__)


def announce_start(run: Run) -> None:
    tell_user(run.session.user_id, _news("run_started", run))


def announce_end(run: Run) -> None:
    news = _news("run_finished", run)
    tell_user(run.session.user_id, {**news, "reason": run.reason})


def announce_waiting(run: Run) -> None:
    tell_user(run.session.user_id, _news("approval_waiting", run))


def announce_resolved(run: Run) -> None:
    tell_user(run.session.user_id, _news("approval_resolved", run))


def tell_user(user_id: int, event: dict[str, Any]) -> None:
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)(
            user_group(user_id), {"type": "user.event", "event": event}
        )
    except (RedisError, OSError):
        logger.warning("The user's channel is out of reach")


def _news(kind: str, run: Run) -> dict[str, Any]:
    return {
        "type": kind,
        "session_id": run.session.thread_id,
        "run_id": str(run.pk),
        "round": run.round,
        "status": run.status,
    }
