"""Feeds of what changes in the lab, for the notification streams."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# A listener that does not read loses events rather than holding them in memory.
BACKLOG_LIMIT = 1000
Event = dict[str, Any]


class Events:
    """Whoever listens to the server or to one project gets its events."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[Event], str] = {}

    @contextmanager
    def listen(self, project_id: str = "") -> Iterator[asyncio.Queue[Event]]:
        queue: asyncio.Queue[Event] = asyncio.Queue(BACKLOG_LIMIT)
        self._listeners[queue] = project_id
        try:
            yield queue
        finally:
            del self._listeners[queue]

    def publish(self, action: str, event: Event, project_id: str = "") -> None:
        """An event without a project is the server's."""
        for queue, wanted in self._listeners.items():
            if wanted == project_id:
                with suppress(asyncio.QueueFull):
                    queue.put_nowait({"action": action, "event": event})
