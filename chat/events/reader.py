"""The one reader of a run: serves the SSE view and the WebSocket consumer.

Subscribe, replay the log from the cursor, then follow. Where the log does not reach
back (trimmed, lost, the reader too slow) one `snapshot` from rows stands for the gap.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from django.conf import settings
from redis.exceptions import RedisError

from chat.events.address import RunAddress
from chat.events.feed import Feed
from chat.events.log import Entry, log_exists, read_log
from chat.events.snapshot import RowState, state_of
from chat.models import Run
from chat.models.run import Status
from copilot_site.lib.orm import in_orm_thread

_GAP_SECONDS = 0.1
DONE = b'"type":"done"'
_HINTS = (b'"type":"approval_required"', b'"type":"snapshot"')


@dataclass(frozen=True, slots=True)
class Batch:
    """Events in order, without a gap; `is_last` when `done` is among them."""

    entries: list[Entry]
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing happened for a while; `status` is the run's in the database."""

    status: str


async def follow(
    address: RunAddress, *, after: int = 0
) -> AsyncGenerator[Batch | Heartbeat, None]:
    """Every event after number `after`, each once, until `done`."""
    async with Feed.of(address) as feed:
        seq, spoke = after, time.monotonic()
        entries: list[Entry] | None = None
        while True:
            is_replay = entries is None
            if entries is None:
                batch = await _replay(address, seq)
            elif entries:
                batch = Batch(entries, _has_done(entries))
            else:
                batch = None
            if batch is not None and batch.entries:
                seq, spoke = batch.entries[-1].seq, time.monotonic()
                yield batch
                if batch.is_last:
                    return
                # A long replay comes in pages; the tail serves once it reaches back.
                entries = feed.since(seq)
                if is_replay and entries == [] and len(batch.entries) > 1:
                    entries = None
                continue
            # At a gap that the rows do not reach yet there is news, but none to tell.
            is_silent = time.monotonic() - spoke > settings.HEARTBEAT_SECONDS
            is_at_gap = entries is None and is_silent
            if is_at_gap or not await feed.wait(seq, settings.HEARTBEAT_SECONDS):
                state = await in_orm_thread(state_of)(address, seq)
                if state.is_over:
                    # Its last events never reached the log, or not this cursor's.
                    yield Batch(_after(state.entries, seq), is_last=True)
                    return
                spoke = time.monotonic()
                yield Heartbeat(state.status)
            entries = feed.since(seq)


async def is_waiting(address: RunAddress, item: Batch | Heartbeat) -> bool:
    """Whether the run waits for a person's decision, where the item hints at it."""
    if isinstance(item, Heartbeat):
        return item.status == Status.WAITING_APPROVAL
    if not any(hint in entry.data[:40] for entry in item.entries for hint in _HINTS):
        return False
    # It may have been decided since: the row knows.
    waiting = Run.objects.filter(pk=address.run_id, status=Status.WAITING_APPROVAL)
    return await in_orm_thread(waiting.exists)()


async def _replay(address: RunAddress, seq: int) -> Batch | None:
    """The next page of the log, or a snapshot where it has a gap."""
    try:
        page = await read_log(address, seq)
    except (RedisError, OSError):
        page = []
    unbroken = _unbroken(page, seq)
    if unbroken:
        return Batch(unbroken, _has_done(unbroken))
    if not page and await log_exists(address):
        # Its last events are on their way: the rows are written before them.
        return None
    state: RowState = await in_orm_thread(state_of)(address, seq)
    if state.is_over:
        return Batch(_after(state.entries, seq), is_last=True)
    if page and state.seq > seq and state.seq >= page[0].seq - 1:
        return Batch(state.entries)
    if state.entries and not page and state.status == Status.WAITING_APPROVAL:
        # It may wait for longer than its log is kept.
        return Batch(state.entries)
    if page:
        # Rows are saved every second: wait until they reach the gap's end.
        await asyncio.sleep(_GAP_SECONDS)
    return None


def _after(entries: list[Entry], seq: int) -> list[Entry]:
    """What a follower at `seq` has not seen; a cursor beyond the end gets all."""
    return [entry for entry in entries if entry.seq > seq] or entries


def _unbroken(entries: list[Entry], seq: int) -> list[Entry]:
    """The entries up to the first gap after `seq`."""
    for index, entry in enumerate(entries):
        if entry.seq != seq + 1 + index:
            return entries[:index]
    return entries


def _has_done(entries: list[Entry]) -> bool:
    return DONE in entries[-1].data[:40]
