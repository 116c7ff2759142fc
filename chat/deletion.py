"""Deleting sessions, one or many: as many queries for fifty as for one."""

import time

from django.db import transaction

from chat.control import forget_logs
from chat.documents.models import Attachment
from chat.documents.store import release
from chat.events.address import RunAddress
from chat.models import ChatSession, Run
from chat.models.run import EXECUTING, FINISHED
from chat.models.session import ChatSessionQuerySet
from chat.runs import stop_run

# How long one waits for its worker to let go, and all of many together.
_ONE_SECONDS = 3.0
_STOP_SECONDS = 5.0
_BATCH = 500


def delete_session(session: ChatSession) -> None:
    """Stop what runs, then remove the session with all that hangs on it."""
    _delete_batch([session.pk], time.monotonic() + _ONE_SECONDS)


def delete_sessions(sessions: ChatSessionQuerySet) -> int:
    """Stop what runs, then remove them with all that hangs on them; how many."""
    keys = list(sessions.order_by("pk").values_list("pk", flat=True))
    deadline = time.monotonic() + _STOP_SECONDS
    deleted = 0
    for start in range(0, len(keys), _BATCH):
        deleted += _delete_batch(keys[start : start + _BATCH], deadline)
    return deleted


def _delete_batch(keys: list[int], deadline: float) -> int:
    runs = Run.objects.filter(session__in=keys).select_related("session")
    for run in runs.exclude(status__in=FINISHED):
        stop_run(run, reason="deleted")
    # What a worker still has to say must not outlive the rows.
    while runs.filter(status__in=EXECUTING).exists():
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    addresses = [RunAddress.of(run) for run in runs]
    files = list(
        Attachment.objects.filter(session__in=keys).values_list("file_id", flat=True)
    )
    with transaction.atomic():
        _, counts = ChatSession.objects.filter(pk__in=keys).delete()
    forget_logs(addresses)
    if files:
        release(files)
    return counts.get("chat.ChatSession", 0)
