"""Database work from coroutines, in threads that no request or run owns."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync
from channels.db import DatabaseSyncToAsync

P = ParamSpec("P")
R = TypeVar("R")


def in_orm_thread(function: Callable[P, R]) -> SyncToAsync[P, R]:
    """Run in a shared thread; its connection is given back afterwards."""
    # Bound to a request, a thread would stay for as long as a stream does.
    work: SyncToAsync[P, R] = DatabaseSyncToAsync(function, thread_sensitive=False)
    return work
