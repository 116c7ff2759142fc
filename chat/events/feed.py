"""What one process knows of one run's log: one subscription for all its followers.

A follower holds no buffer of its own: it keeps a position, reads the shared tail, and
where that does not reach back, the log. So a slow one costs nothing and loses nothing.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from chat.events.address import RunAddress
from chat.events.log import Entry, read_log, read_newest

logger = logging.getLogger(__name__)

_TAIL_LENGTH = 2_000
_TAIL_BYTES = 4 * 1024 * 1024
# A lost announcement (Redis restarted) is noticed after this long.
_POLL_SECONDS = 3.0


class Feed:
    """The tail of a run's log, kept up to date by the live feed."""

    _anchors: WeakKeyDictionary[asyncio.AbstractEventLoop, str] = WeakKeyDictionary()
    _open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[RunAddress, "Feed"]] = (
        WeakKeyDictionary()
    )

    def __init__(self, address: RunAddress) -> None:
        self.address = address
        self._followers = 0
        self._tail: deque[Entry] = deque()
        self._bytes = 0
        self._attempt = 0
        self._news: set[asyncio.Future[bool]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._ready = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, address: RunAddress) -> AsyncIterator["Feed"]:
        """Subscribed from here on; the last follower to leave closes it."""
        feeds = cls._open.setdefault(asyncio.get_running_loop(), {})
        feed = feeds.get(address)
        if feed is None:
            feed = feeds[address] = cls(address)
            feed._tasks = [
                asyncio.create_task(feed._listen()),
                asyncio.create_task(feed._poll()),
            ]
        feed._followers += 1
        try:
            await feed._ready.wait()
            yield feed
        finally:
            feed._followers -= 1
            if feed._followers == 0:
                feeds.pop(address, None)
                await _end(feed._tasks)

    def since(self, seq: int) -> list[Entry] | None:
        """Entries after `seq` in order; None where the tail does not reach back."""
        if not self._tail or self._tail[-1].seq <= seq:
            return []
        if self._tail[0].seq > seq + 1:
            return None
        skip = seq + 1 - self._tail[0].seq
        return [self._tail[i] for i in range(skip, len(self._tail))]

    async def wait(self, seq: int, seconds: float) -> bool:
        """True when there is something after `seq`, False when time is over."""
        if self._tail and self._tail[-1].seq > seq:
            return True
        loop = asyncio.get_running_loop()
        news: asyncio.Future[bool] = loop.create_future()
        # A timer of its own costs a third of asyncio.timeout, for every event.
        timer = loop.call_later(seconds, _tell, news, False)
        self._news.add(news)
        try:
            return await news
        finally:
            timer.cancel()
            self._news.discard(news)

    async def _listen(self) -> None:
        layer = get_channel_layer()
        channel = ""
        try:
            while True:
                try:
                    if not channel:
                        await self._anchor()
                        channel = await layer.new_channel("feed.")
                        await layer.group_add(self.address.group, channel)
                    self._ready.set()
                    message = await layer.receive(channel)
                    if message["type"] == "run.events":
                        self._take(message)
                    else:
                        await self._catch_up()
                except Exception as error:
                    # Whatever it was, followers are served from the log meanwhile.
                    logger.warning("Live feed out of reach: %r", error)
                    self._ready.set()
                    channel = ""
                    await asyncio.sleep(0.5)
        finally:
            if channel:
                with contextlib.suppress(Exception):
                    await layer.group_discard(self.address.group, channel)

    @classmethod
    async def _anchor(cls) -> None:
        """Without any subscription the layer looks for messages only every 0.1 s."""
        loop = asyncio.get_running_loop()
        if loop not in cls._anchors:
            cls._anchors[loop] = await get_channel_layer().new_channel("anchor.")

    async def _poll(self) -> None:
        # The subscription is sent, not confirmed: look once soon after it.
        await asyncio.sleep(0.1)
        while True:
            await self._catch_up()
            await asyncio.sleep(_POLL_SECONDS)

    def _take(self, message: dict[str, object]) -> None:
        attempt, seq = message["attempt"], message["seq"]
        events = message["events"]
        assert isinstance(attempt, int)
        assert isinstance(seq, int)
        assert isinstance(events, list)
        if attempt < self._attempt:
            return
        self._attempt = attempt
        self._extend([Entry(seq + i, attempt, data) for i, data in enumerate(events)])

    async def _catch_up(self) -> None:
        with contextlib.suppress(RedisError, OSError):
            if self._tail:
                self._extend(await read_log(self.address, self._tail[-1].seq))
            else:
                self._extend(await read_newest(self.address))

    def _extend(self, entries: list[Entry]) -> None:
        last = self._tail[-1].seq if self._tail else 0
        fresh = [entry for entry in entries if entry.seq > last]
        if not fresh:
            return
        for entry in fresh:
            if self._tail and entry.seq != self._tail[-1].seq + 1:
                # A gap: forget the tail, so that each follower reads the log itself.
                self._tail.clear()
                self._bytes = 0
            self._tail.append(entry)
            self._bytes += len(entry.data)
        while len(self._tail) > _TAIL_LENGTH or (
            self._bytes > _TAIL_BYTES and len(self._tail) > 1
        ):
            self._bytes -= len(self._tail.popleft().data)
        for news in self._news:
            _tell(news, True)


def _tell(news: "asyncio.Future[bool]", is_news: bool) -> None:
    if not news.done():
        news.set_result(is_news)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until it works: a client's library may swallow a cancellation."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.1)
