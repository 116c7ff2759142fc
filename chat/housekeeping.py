"""What a worker does besides its runs; nothing of it delays a heartbeat."""

import logging
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connections

from chat.approvals import end_overdue, overdue
from chat.documents.attachments import read_waiting, waiting_attachments
from chat.documents.store import sweep
from chat.knowledge.tasks import ingest_waiting, waiting_documents
from chat.ledger import settle_lost_calls
from chat.lifecycle import (
    due_projects,
    purge_projects,
    runs_to_stop,
    stop_runs_of_gone_projects,
)

logger = logging.getLogger(__name__)

_CALLS_SECONDS = 300.0
_PURGE_SECONDS = 3600.0
_SWEEP_SECONDS = 300.0


class Chore:
    """Work in a thread of its own; asked for again while it goes on, it is not."""

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self._name = name
        self._work = work
        self._thread: threading.Thread | None = None
        self.last = time.monotonic()

    @property
    def age(self) -> float:
        """Seconds since it was begun last."""
        return time.monotonic() - self.last

    def begin(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self.last = time.monotonic()
            self._thread = threading.Thread(
                target=self._safely, name=self._name, daemon=True
            )
            self._thread.start()

    def _safely(self) -> None:
        try:
            self._work()
        except Exception:
            logger.exception("The worker's chore %s failed", self._name)
        finally:
            connections.close_all()


class Housekeeper:
    """Looks with each heartbeat what there is to do."""

    def __init__(self) -> None:
        self.stops = Chore("stops", stop_runs_of_gone_projects)
        self.approvals = Chore("approvals", end_overdue)
        self.books = Chore("books", settle_lost_calls)
        self.purge = Chore("purge", purge_projects)
        self.attachments = Chore("attachments", read_waiting)
        self.documents = Chore("documents", ingest_waiting)
        self.files = Chore("files", sweep)

    def beat(self) -> None:
        if runs_to_stop().exists():
            self.stops.begin()
        if overdue().exists():
            self.approvals.begin()
        if self.books.age >= _CALLS_SECONDS:
            self.books.begin()
        if self._is_time_to_purge():
            self.purge.begin()
        if waiting_attachments().waiting().exists():
            self.attachments.begin()
        if waiting_documents().waiting().exists():
            self.documents.begin()
        if self.files.age >= _SWEEP_SECONDS:
            self.files.begin()

    def _is_time_to_purge(self) -> bool:
        if self.purge.age >= _PURGE_SECONDS:
            return True
        return not settings.PROJECT_RETENTION_DAYS and due_projects().exists()
