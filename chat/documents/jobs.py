"""Work on an uploaded document, one row a document: who has it, how far, how it ended.

The rows are the queue: a task or a sweep only says that there is something to do. A
worker that dies leaves a row that stands still, and another takes it over.
"""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from copilot_site.lib.errors import UserFacingError

logger = logging.getLogger(__name__)

# A row that says nothing for so long has lost its worker.
STALE_SECONDS = 60.0
_TRIES = 3
_FAILED = "Something went wrong while it was read. The operator finds it in the log."
_KILLED = "The worker died each time it read this document."

closing = threading.Event()
_slots = threading.BoundedSemaphore(settings.INGESTS_AT_ONCE)


class JobLost(Exception):
    """The row is another's now: it was replaced, deleted or taken over."""


class JobQuerySet(models.QuerySet[Any]):
    def waiting(self) -> Self:
        """Uploaded, or begun by a worker that is no more."""
        border = timezone.now() - timedelta(seconds=STALE_SECONDS)
        return self.filter(
            Q(state=Job.State.UPLOADED)
            | Q(state=Job.State.INGESTING, worked_at__lt=border)
        )

    def claim_next(self) -> Any:
        """The oldest that waits, now ours; None: nothing waits."""
        for job in self.waiting().order_by("created_at", "pk")[:20]:
            if job.claim():
                return job
        return None


class Job(models.Model):
    """What a document's row knows of the work on it."""

    class State(models.TextChoices):
        UPLOADED = "uploaded"
        INGESTING = "ingesting"
        READY = "ready"
        FAILED = "failed"

    state = models.CharField(
        max_length=16, choices=State, default=State.UPLOADED, editable=False
    )
    error_code = models.CharField(max_length=64, blank=True, editable=False)
    error = models.CharField(max_length=500, blank=True, editable=False)
    done = models.PositiveIntegerField(default=0, editable=False)
    total = models.PositiveIntegerField(default=0, editable=False)
    # Rises with each claim and each new version: who has an older one writes nothing.
    attempt = models.PositiveIntegerField(default=0, editable=False)
    tries = models.PositiveIntegerField(default=0, editable=False)
    worked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def _mine(self) -> models.QuerySet[Any]:
        rows = type(self)._default_manager.filter(pk=self.pk, attempt=self.attempt)
        return rows.filter(state=self.state)

    def claim(self) -> bool:
        """False where another worker was faster."""
        now = timezone.now()
        taken = self._mine().update(
            state=Job.State.INGESTING,
            attempt=F("attempt") + 1,
            tries=F("tries") + 1,
            worked_at=now,
            done=0,
            total=0,
        )
        if taken:
            self.refresh_from_db()
        return bool(taken)

    def progress(self, done: int, total: int) -> None:
        """Raises JobLost."""
        if closing.is_set():
            self.give_back()
            raise JobLost
        now = timezone.now()
        if not self._mine().update(done=done, total=total, worked_at=now):
            raise JobLost

    def give_back(self) -> None:
        """Unfinished, for another worker."""
        self._mine().update(state=Job.State.UPLOADED, tries=F("tries") - 1)

    def finish(self, **fields: Any) -> None:
        """Raises JobLost."""
        self._end(Job.State.READY, error="", error_code="", **fields)

    def fail(self, error: str, code: str) -> None:
        """Raises JobLost."""
        self._end(Job.State.FAILED, error=error[:500], error_code=code)

    def _end(self, state: "Job.State", **fields: Any) -> None:
        if not self._mine().update(state=state, worked_at=timezone.now(), **fields):
            raise JobLost
        self.state = state

    @property
    def is_finished(self) -> bool:
        return self.state in (Job.State.READY, Job.State.FAILED)


J = TypeVar("J", bound=Job)


def do(job: J, work: Callable[[J], None]) -> None:
    """Work on a claimed row; what goes wrong becomes its state."""
    try:
        if job.tries > _TRIES:
            job.fail(_KILLED, "worker_died")
        else:
            work(job)
    except JobLost:
        return
    except UserFacingError as error:
        _fail(job, str(error), error.code)
    except Exception:
        logger.exception("Work on %s %s failed", job._meta.label, job.pk)
        _fail(job, _FAILED, "internal_error")


def _fail(job: Job, error: str, code: str) -> None:
    try:
        job.fail(error, code)
    except JobLost:
        return


def work_off(rows: Callable[[], JobQuerySet], work: Callable[[Any], None]) -> None:
    """Until nothing waits; returns at once where enough others do the same here."""
    if not _slots.acquire(blocking=False):
        return
    try:
        while not closing.is_set() and (job := rows().claim_next()) is not None:
            do(job, work)
    finally:
        _slots.release()


def run_now(job: J, work: Callable[[J], None]) -> J:
    """In the caller's thread. Whoever has it already goes on."""
    with transaction.atomic():
        is_ours = job.claim()
    if is_ours:
        do(job, work)
    job.refresh_from_db()
    return job
