"""One conversation at a time per console, within this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

_Locks = WeakValueDictionary[str, asyncio.Lock]

# A lock belongs to one event loop, and a worker may run one loop after the other.
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Locks] = WeakKeyDictionary()


@asynccontextmanager
async def in_process_lock(address: str) -> AsyncIterator[None]:
    locks = _locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lock = locks.setdefault(address, asyncio.Lock())
    async with lock:
        yield
