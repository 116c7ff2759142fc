"""Tells the workers that a document waits; the row is what counts, a sweep finds it."""

import functools
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import transaction
from kombu.exceptions import OperationalError

from copilot_site.celery import app

logger = logging.getLogger(__name__)

# The broker's client has no overall time limit: nobody waits for it here.
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wake")
_lock = threading.Lock()
_waiting: set[str] = set()


def wake(task: str) -> None:
    """After the commit; one message is enough for all that wait."""
    transaction.on_commit(functools.partial(_submit, task))


def _submit(task: str) -> None:
    with _lock:
        if task in _waiting:
            return
        _waiting.add(task)
    _sender.submit(_send, task)


def _send(task: str) -> None:
    with _lock:
        _waiting.discard(task)
    try:
        app.send_task(task, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("%s waits for a sweep: %s", task, type(error).__name__)
