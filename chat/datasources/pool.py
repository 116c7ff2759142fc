"""A few connections for each source, lent to one query at a time."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from chat.datasources.errors import SourceUnavailable

SIZE = 4
_WAIT_SECONDS = 10.0
_IDLE_SECONDS = 60.0


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Pool(Generic[C]):
    """At most `SIZE` at once; one that saw an error is closed, not lent again."""

    def __init__(self, connect: Callable[[], C], is_alive: Callable[[C], bool]) -> None:
        self._connect = connect
        self._is_alive = is_alive
        self._places = threading.BoundedSemaphore(SIZE)
        self._idle: list[tuple[float, C]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    @contextlib.contextmanager
    def borrow(self) -> Iterator[C]:
        """Raises SourceUnavailable, and what connecting raises."""
        if not self._places.acquire(timeout=_WAIT_SECONDS):
            raise SourceUnavailable(
                f"{SIZE} queries of this data source run already; try again later."
            )
        try:
            connection = self._take() or self._connect()
            is_good = False
            try:
                yield connection
                is_good = True
            finally:
                self._give_back(connection, is_good=is_good)
        finally:
            self._places.release()

    @property
    def idle_count(self) -> int:
        return len(self._idle)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _take(self) -> C | None:
        """The one that rested least; those that rested too long are closed."""
        oldest = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            stale = [one for since, one in self._idle if since < oldest]
            self._idle = [pair for pair in self._idle if pair[0] >= oldest]
            taken = self._idle.pop()[1] if self._idle else None
        if taken is not None and not self._is_alive(taken):
            # The server was restarted, or something between has hung up.
            stale.append(taken)
            taken = None
        for connection in stale:
            connection.close()
        return taken

    def _give_back(self, connection: C, *, is_good: bool) -> None:
        with self._lock:
            keeps = is_good and not self._is_closed
            if keeps:
                self._idle.append((time.monotonic(), connection))
        if not keeps:
            connection.close()
