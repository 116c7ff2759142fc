"""Queries run in threads of their own; who stops waiting ends them."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from chat.datasources.errors import QueryTooSlow

A = TypeVar("A")
T = TypeVar("T")

# Not the loop's own pool: slow databases must not keep other work waiting.
_queries = ThreadPoolExecutor(16, thread_name_prefix="data-source")
_cancels = ThreadPoolExecutor(4, thread_name_prefix="data-source-cancel")
# After its own limit, a query gets this long to end by itself.
_GRACE_SECONDS = 5.0
_CANCEL_SECONDS = 3.0


class Cancel:
    """Lets another thread end what this one waits for."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._lock = threading.Lock()
        self._action: Callable[[], None] | None = None

    def is_set(self) -> bool:
        return self._is_set.is_set()

    @contextlib.contextmanager
    def by(self, action: Callable[[], None]) -> Iterator[None]:
        """While this lasts, cancelling calls `action` as well."""
        with self._lock:
            self._action = action
        try:
            yield
        finally:
            # Waits for an action in progress: it must not hit the next query.
            with self._lock:
                self._action = None

    def now(self) -> None:
        self._is_set.set()
        with self._lock:
            if self._action is not None:
                self._action()


async def in_query_thread(work: Callable[[Cancel], T], *, seconds: float) -> T:
    """Raises QueryTooSlow. Cancelling it cancels the work as well."""
    loop = asyncio.get_running_loop()
    cancel = Cancel()
    future = loop.run_in_executor(_queries, work, cancel)
    try:
        async with asyncio.timeout(seconds + _GRACE_SECONDS):
            return await asyncio.shield(future)
    except (asyncio.CancelledError, TimeoutError) as error:
        await _end(future, cancel)
        if isinstance(error, TimeoutError):
            raise QueryTooSlow(too_slow(seconds)) from None
        raise


def in_parallel(work: Callable[[A], T], items: Sequence[A]) -> list[T]:
    """From a thread: one that is slow does not add to the next."""
    return list(_queries.map(work, items))


async def _end(future: "asyncio.Future[T]", cancel: Cancel) -> None:
    """Gives the work a moment to hand its connection back."""
    loop = asyncio.get_running_loop()
    deadline = time.monotonic() + _CANCEL_SECONDS
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_in_executor(_cancels, cancel.now)
        await asyncio.wait([future], timeout=deadline - time.monotonic())
    if future.done() and not future.cancelled():
        # Its error is no longer anybody's; unread, it would be logged.
        future.exception()


def too_slow(seconds: float) -> str:
    return (
        f"The query took longer than {seconds:g} s and was ended. Ask for less: "
        "fewer rows, a narrower condition, or totals."
    )
