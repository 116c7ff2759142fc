"""Telling the workers that a run waits for them; the row is what counts."""

import logging
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

from kombu.exceptions import OperationalError

from chat.models import Run
from copilot_site.celery import app

logger = logging.getLogger(__name__)

EXECUTE = "chat.tasks.execute_run"
_PUBLISH_SECONDS = 1.0

# The broker's client has no overall time limit of its own.
_publisher = ThreadPoolExecutor(max_workers=4, thread_name_prefix="publish")


def publish(run: Run) -> bool:
    """Within a second, or False: then a sweep of the workers finds the queued row."""
    future = _publisher.submit(app.send_task, EXECUTE, [str(run.pk)], retry=False)
    try:
        future.result(timeout=_PUBLISH_SECONDS)
    except (FutureTimeout, OperationalError, OSError) as error:
        logger.warning("Run %s waits for a sweep: %s", run.pk, type(error).__name__)
        return False
    return True
