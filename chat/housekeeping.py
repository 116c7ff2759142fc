"""What a worker does besides its runs; the slow part never delays a heartbeat."""

import logging
import threading
import time

from django.conf import settings
from django.db import connections

from chat.ledger import settle_lost_calls
from chat.lifecycle import due_projects, purge_projects, stop_runs_of_gone_projects

logger = logging.getLogger(__name__)

_CALLS_SECONDS = 300.0
_PURGE_SECONDS = 3600.0


class Housekeeper:
    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._settled_at = self._purged_at = time.monotonic()

    def beat(self) -> None:
        """With each heartbeat: what can't wait at once, the rest in its own thread."""
        stop_runs_of_gone_projects()
        if self._thread is not None and self._thread.is_alive():
            return
        if self._is_time_to_purge() or self._is_time_to_settle():
            self._thread = threading.Thread(
                target=self._work, name="housekeeping", daemon=True
            )
            self._thread.start()

    def _is_time_to_settle(self) -> bool:
        return time.monotonic() - self._settled_at >= _CALLS_SECONDS

    def _is_time_to_purge(self) -> bool:
        if time.monotonic() - self._purged_at >= _PURGE_SECONDS:
            return True
        return not settings.PROJECT_RETENTION_DAYS and due_projects().exists()

    def _work(self) -> None:
        try:
            if self._is_time_to_purge():
                self._purged_at = time.monotonic()
                purge_projects()
            self._settled_at = time.monotonic()
            settle_lost_calls()
        except Exception:
            logger.exception("Housekeeping failed")
        finally:
            connections.close_all()
