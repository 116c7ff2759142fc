"""Stopping a run wherever it is: in line, with a worker, or waiting for a person."""

from chat.control import signal_stop
from chat.ending import end_unowned_run
from chat.models import Run
from chat.models.run import FINISHED, Status

_UNOWNED = (Status.PENDING, Status.QUEUED, Status.WAITING_APPROVAL)


def stop_run(run: Run, *, reason: str = "user") -> bool:
    """False if it was over already."""
    try:
        return _stop(run, reason)
    except Run.DoesNotExist:
        return False


def _stop(run: Run, reason: str) -> bool:
    while run.status not in FINISHED:
        if run.status in _UNOWNED and end_unowned_run(run, _UNOWNED, reason=reason):
            return True
        if run.request_stop(reason):
            # The worker also looks at the row, a second later.
            signal_stop(run)
            return True
        # It has moved meanwhile: to a worker, or to waiting for a person.
        before = run.status
        run.refresh_from_db(fields=["status", "attempt"])
        if run.status == before:
            return False
    return False
