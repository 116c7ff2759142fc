"""Stopping a run wherever it is: in line, with a worker, or waiting for a person."""

from chat.control import signal_stop
from chat.ending import end_unowned_run
from chat.models import Run
from chat.models.run import Status


def stop_run(run: Run, *, reason: str = "user") -> bool:
    """False if it was over already."""
    waiting = [Status.PENDING, Status.QUEUED, Status.WAITING_APPROVAL]
    if run.status in waiting and end_unowned_run(run, waiting, reason=reason):
        return True
    run.refresh_from_db(fields=["status", "attempt"])
    if not run.request_stop(reason):
        return False
    # The worker also looks at the row, a second later.
    signal_stop(run)
    return True
