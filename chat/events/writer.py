"""Writing a run's events: numbered here, sent by one pipelined flush for all runs."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import msgpack
from django.conf import settings
from django.utils import timezone
from redis.exceptions import NoScriptError, RedisError

from chat.events.address import RunAddress
from chat.events.log import (
    APPEND,
    FAILED,
    REFUSED,
    Entry,
    continue_log,
    time_to_live,
    wire,
)
from chat.events.redis import redis
from chat.events.vocabulary import (
    AttemptStarted,
    Content,
    Event,
    Reasoning,
    encode,
)

logger = logging.getLogger(__name__)

# Beyond this, events of an unreachable log are dropped: followers get a snapshot.
_PENDING_LIMIT = 5_000
_COALESCE_SECONDS = 0.01
_BUSY_RUNS = 3


class RunLog:
    """The one writer of a run's attempt. Not for use by two tasks at once."""

    def __init__(self, address: RunAddress, attempt: int) -> None:
        self.address = address
        self.attempt = attempt
        self.seq = 0
        self.is_fenced = False
        self.on_fenced: Callable[[], None] = lambda: None
        self._pending: list[Entry] = []
        self._text: list[str] = []
        self._text_kind: type[Content] | type[Reasoning] = Content
        self._text_id = ""
        self._is_over = False
        self._head = {**address.head(), "attempt": attempt}
        self._flusher = Flusher.of_this_loop()

    async def open(self, discarded: list[str], *, floor: int) -> None:
        """The attempt's first act: from here on older attempts are refused."""
        try:
            async with asyncio.timeout(2):
                seq = await continue_log(
                    self.address,
                    self.attempt,
                    [AttemptStarted(self.attempt, discarded)],
                    floor=floor,
                )
        except (RedisError, OSError, TimeoutError):
            # The rows are the truth; followers are served from them meanwhile.
            logger.warning("Event log out of reach; run %s goes on", self.address)
            self.seq = floor
            self.put(AttemptStarted(self.attempt, discarded))
            return
        if seq == REFUSED:
            self.fence()
        self.seq = max(seq, 0)

    def put(self, event: Event) -> int:
        """Number the event and send it soon; returns its number."""
        self._close_text()
        self._add(event)
        self._flusher.wake(self)
        return self.seq

    def text(self, message_id: str, piece: str) -> None:
        """A piece of answer; pieces of one flush become one event."""
        self._put_text(Content, message_id, piece)

    def reasoning(self, message_id: str, piece: str) -> None:
        self._put_text(Reasoning, message_id, piece)

    def mark(self) -> int:
        """Number of the last event, with all text so far in it."""
        self._close_text()
        return self.seq

    def close(self) -> int:
        """From here on only the closing events may follow; the last number so far."""
        self._is_over = True
        return self.mark()

    async def flush(self, seconds: float = 1.0) -> None:
        """Wait until all is sent, but not longer than `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while (self._pending or self._text) and not self.is_fenced:
                    self._flusher.wake(self)
                    await self._flusher.flushed()
        except TimeoutError:
            logger.warning("Event log slow; run %s goes on", self.address)

    def fence(self) -> None:
        """A newer attempt owns the run: nothing of this one may be heard."""
        if not self.is_fenced:
            self.is_fenced = True
            self._pending.clear()
            self._text.clear()
            self.on_fenced()

    def take(self) -> list[Entry]:
        """What is to be sent now (for the flusher)."""
        self._close_text()
        pending, self._pending = self._pending, []
        return pending

    def give_back(self, entries: list[Entry]) -> None:
        """What could not be sent (for the flusher)."""
        self._pending[:0] = entries
        del self._pending[:-_PENDING_LIMIT]

    @property
    def is_over(self) -> bool:
        """Only the closing events may follow."""
        return self._is_over

    @property
    def seconds_to_live(self) -> int:
        return time_to_live(is_over=self._is_over)

    def _put_text(
        self, kind: type[Content] | type[Reasoning], message_id: str, piece: str
    ) -> None:
        if (kind, message_id) != (self._text_kind, self._text_id):
            self._close_text()
            self._text_kind, self._text_id = kind, message_id
        self._text.append(piece)
        self._flusher.wake(self)

    def _close_text(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._add(self._text_kind(text, self._text_id))

    def _add(self, event: Event) -> None:
        if self.is_fenced:
            return
        self.seq += 1
        head = {
            "seq": self.seq,
            **self._head,
            "timestamp": timezone.now().isoformat(),
        }
        self._pending.append(Entry(self.seq, self.attempt, encode(event, head)))


class Flusher:
    """One task per event loop: what all its runs have written goes out together."""

    _of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, "Flusher"] = (
        WeakKeyDictionary()
    )

    def __init__(self) -> None:
        self._dirty: set[RunLog] = set()
        self._wake = asyncio.Event()
        self._flushed = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._script: str = ""

    @classmethod
    def of_this_loop(cls) -> "Flusher":
        loop = asyncio.get_running_loop()
        flusher = cls._of_loop.get(loop)
        if flusher is None or flusher._task.done():
            flusher = cls._of_loop[loop] = cls()
        return flusher

    def wake(self, log: RunLog) -> None:
        self._dirty.add(log)
        self._wake.set()

    async def flushed(self) -> None:
        """Wait for the end of the next flush."""
        self._flushed.clear()
        await self._flushed.wait()

    async def _run(self) -> None:
        delay = 0.0
        while True:
            await self._wake.wait()
            self._wake.clear()
            dirty, self._dirty = self._dirty, set()
            batch = [(log, log.take()) for log in dirty]
            batch = [(log, entries) for log, entries in batch if entries]
            try:
                await self._send(batch)
            except (RedisError, OSError) as error:
                logger.warning("Event log out of reach: %s", type(error).__name__)
                for log, entries in batch:
                    log.give_back(entries)
                    self.wake(log)
                await asyncio.sleep(0.5)
            except Exception:
                logger.exception("Events were not sent")
            self._flushed.set()
            # A first token leaves at once; under load, one trip carries many.
            delay = _COALESCE_SECONDS if len(batch) > _BUSY_RUNS else 0.0
            await asyncio.sleep(delay)

    async def _send(self, batch: list[tuple[RunLog, list[Entry]]]) -> None:
        if not batch:
            return
        client = redis()
        if not self._script:
            self._script = await client.script_load(APPEND)
        # One argument for all: packing thousands of small ones is what costs. The
        # script's msgpack is an old one that knows no binary type.
        packed = msgpack.packb(
            [_packed(log, entries) for log, entries in batch], use_bin_type=False
        )
        keys = [log.address.key for log, _ in batch]
        try:
            answers = await client.evalsha(
                self._script, len(keys), *keys, settings.EVENT_LOG_LENGTH, packed
            )
        except NoScriptError:
            # Redis has been restarted.
            self._script = ""
            answers = [FAILED] * len(batch)
        for (log, entries), answer in zip(batch, answers, strict=True):
            if answer == FAILED:
                log.give_back(entries)
                self.wake(log)
            elif answer == REFUSED:
                log.fence()


def _packed(log: RunLog, entries: list[Entry]) -> list[Any]:
    """What the script wants to know of one log."""
    events = [entry.data for entry in entries]
    channel, message = wire(
        log.address.group,
        {
            "type": "run.events",
            "attempt": log.attempt,
            "seq": entries[0].seq,
            "events": events,
        },
    )
    return [
        log.attempt,
        log.seconds_to_live,
        channel,
        message,
        entries[0].seq,
        events,
    ]


class Throttle:
    """Lets a thing through at most every `seconds`, by key."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last: dict[str, float] = {}

    def allows(self, key: str) -> bool:
        now = time.monotonic()
        if now - self._last.get(key, float("-inf")) < self._seconds:
            return False
        self._last[key] = now
        return True
