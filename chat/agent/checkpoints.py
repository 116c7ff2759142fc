"""LangGraph's own savers, strict: a crafted checkpoint runs nothing.

They serve a run in progress; the rows are the conversation.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

from django.conf import settings
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

logger = logging.getLogger(__name__)

_OPEN_STORES = 16
_NO_PROJECT = "none"


def strict_serializer() -> JsonPlusSerializer:
    """Only messages and primitives; LangGraph's default would import and call."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def store_path(project_id: str) -> Path:
    """One SQLite file a project, never inside the GNS3 project's own folder."""
    folder: Path = settings.DATA_DIR / "projects" / (project_id or _NO_PROJECT)
    return folder / "gns3-copilot" / "copilot_checkpoints.db"


class Checkpoints:
    """The worker's open stores; the least used is closed when there are many."""

    def __init__(self) -> None:
        self._stores: OrderedDict[str, tuple[Any, contextlib.AsyncExitStack]] = (
            OrderedDict()
        )
        self._users: dict[str, int] = {}
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def of(self, project_id: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
        """The project's saver, open for as long as it is used."""
        key = project_id if settings.IS_SQLITE else "database"
        async with self._lock:
            if key not in self._stores:
                self._stores[key] = await _open(key)
            self._stores.move_to_end(key)
            self._users[key] = self._users.get(key, 0) + 1
            await self._close_unused(_OPEN_STORES)
        try:
            yield self._stores[key][0]
        finally:
            self._users[key] -= 1

    def open_projects(self) -> list[str]:
        """Whose stores are open here; from any thread."""
        return list(self._stores) if settings.IS_SQLITE else []

    async def release(self, project_ids: Collection[str]) -> None:
        """Close those that no run uses."""
        async with self._lock:
            for key in project_ids:
                if key in self._stores and not self._users.get(key):
                    _, stack = self._stores.pop(key)
                    await stack.aclose()

    async def close(self) -> None:
        """All of them, at the end of the process."""
        async with self._lock:
            self._users.clear()
            await self._close_unused(0)

    async def _close_unused(self, keep: int) -> None:
        idle = [key for key in self._stores if not self._users.get(key)]
        for key in idle[: max(0, len(self._stores) - keep)]:
            _, stack = self._stores.pop(key)
            await stack.aclose()


@contextlib.asynccontextmanager
async def only_while_running(
    saver: BaseCheckpointSaver[str], thread: str
) -> AsyncIterator[None]:
    """No checkpoint of the thread before and after: the rows are the conversation."""
    await saver.adelete_thread(thread)
    try:
        yield
    finally:
        # Also when the run is cancelled.
        await asyncio.shield(saver.adelete_thread(thread))


async def _open(key: str) -> tuple[BaseCheckpointSaver[str], contextlib.AsyncExitStack]:
    stack = contextlib.AsyncExitStack()
    if settings.IS_SQLITE:
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        path = store_path(key)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = await stack.enter_async_context(aiosqlite.connect(path))
        await connection.execute("PRAGMA busy_timeout=20000")
        sqlite = AsyncSqliteSaver(connection, serde=strict_serializer())
        await sqlite.setup()
        return sqlite, stack
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    pool: AsyncConnectionPool[
        AsyncConnection[dict[str, Any]]
    ] = await stack.enter_async_context(
        AsyncConnectionPool(
            _postgres_address(),
            min_size=0,
            max_size=8,
            open=False,
            kwargs={
                "autocommit": True,
                "prepare_threshold": 0,
                "row_factory": dict_row,
            },
        )
    )
    postgres = AsyncPostgresSaver(pool, serde=strict_serializer())
    await postgres.setup()
    return postgres, stack


def _postgres_address() -> str:
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import Conninfo

    database = settings.DATABASES["default"]
    # DATABASE_URL's query (host=/folder/of/a/socket, sslmode=...) arrives as OPTIONS.
    known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    options = database.get("OPTIONS", {})
    fields = {
        "dbname": database["NAME"],
        "user": database.get("USER"),
        "password": database.get("PASSWORD"),
        "host": database.get("HOST"),
        "port": database.get("PORT"),
        "connect_timeout": 10,
        **{key: value for key, value in options.items() if key in known},
    }
    return make_conninfo(**{key: value for key, value in fields.items() if value})
