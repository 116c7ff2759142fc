"""Polls with a deadline."""

import asyncio
import time
from collections.abc import Callable

DEADLINE = 20.0
PAUSE = 0.02


def wait_until(is_true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not is_true():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(PAUSE)


async def until(is_true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not is_true():
        assert time.monotonic() < deadline, f"never: {what}"
        await asyncio.sleep(PAUSE)
