"""One heartbeat row per worker process: the lease of all its runs."""

import uuid
from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone


class WorkerQuerySet(models.QuerySet["Worker"]):
    def dead(self, lease: float) -> Self:
        """Those whose last heartbeat is older than the lease (database time)."""
        return self.filter(heartbeat_at__lt=Now() - timedelta(seconds=lease))


class Worker(models.Model):
    """A process that executes runs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    hostname = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(db_default=Now(), db_index=True)
    objects = WorkerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.hostname}:{self.pid}"

    def beat(self) -> bool:
        """Renew the lease. False if the row is gone: another worker took over."""
        return Worker.objects.filter(pk=self.pk).update(heartbeat_at=Now()) == 1
