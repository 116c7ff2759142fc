"""Answers being written are saved every second, all runs in one transaction."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Iterator, Sequence
from typing import Self
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection, transaction

from chat.agent.record import Draft, RunRecord
from chat.models import Message, Run
from chat.models.run import EXECUTING
from copilot_site.lib.orm import in_orm_thread

logger = logging.getLogger(__name__)

_SECONDS = 1.0


class DraftSaver:
    """One per event loop; idle while nothing is written."""

    _of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Self] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._records: dict[uuid.UUID, RunRecord] = {}
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def of_this_loop(cls) -> Self:
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls()
        return cls._of_loop[loop]

    @contextlib.contextmanager
    def saving(self, record: RunRecord) -> Iterator[None]:
        """While a run streams, its rows are never older than a second."""
        self._records[record.run.pk] = record
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_saving())
        try:
            yield
        finally:
            self._records.pop(record.run.pk, None)

    async def _keep_saving(self) -> None:
        while self._records:
            await asyncio.sleep(_SECONDS)
            drafts = [
                draft
                for record in self._records.values()
                if (draft := record.unsaved()) is not None
            ]
            if not drafts:
                continue
            try:
                lost = await in_orm_thread(save)(drafts)
            except DatabaseError as error:
                # The next second's drafts hold these as well.
                logger.warning("Drafts were not saved: %s", type(error).__name__)
                continue
            for run_id in lost:
                # Stopped or another worker's: its own next report ends it.
                self._records.pop(run_id, None)


def save(drafts: Sequence[Draft]) -> set[uuid.UUID]:
    """In a thread. The runs among them that are no longer this attempt's."""
    with transaction.atomic():
        rows = Run.objects.select_for_update().filter(
            pk__in=[draft.run_id for draft in drafts], status__in=EXECUTING
        )
        # In one order, so that two workers never wait for each other.
        owned = dict(rows.order_by("pk").values_list("pk", "attempt"))
        held = [one for one in drafts if owned.get(one.run_id) == one.attempt]
        _write(held)
    return {draft.run_id for draft in drafts} - {draft.run_id for draft in held}


def _write(drafts: Sequence[Draft]) -> None:
    # Two statements, prepared once: made by the ORM they cost ten times as much.
    quote = connection.ops.quote_name
    run, message = quote(Run._meta.db_table), quote(Message._meta.db_table)
    key = Run._meta.pk.get_db_prep_value
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {run} SET saved_seq = %s WHERE id = %s AND saved_seq < %s",
            [(one.seq, key(one.run_id, connection), one.seq) for one in drafts],
        )
        cursor.executemany(
            f"UPDATE {message} SET content = %s WHERE id = %s AND is_partial",
            [
                (text, key(uuid.UUID(message_id), connection))
                for one in drafts
                for message_id, text in one.texts.items()
            ],
        )
