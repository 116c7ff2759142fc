"""A worker process: one event loop for all its runs, one heartbeat for all leases."""

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
from typing import Self

import uvloop
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections
from django.db.models.functions import Now
from django.utils import translation
from redis.exceptions import RedisError

from accounts.language import language_for
from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import AttemptsUsedUp, Execution
from chat.control import STOP_CHANNEL
from chat.ending import end_unowned_run
from chat.events.redis import redis
from chat.housekeeping import Housekeeper
from chat.lifecycle import closed_among
from chat.models import Run, Worker
from chat.models.run import EXECUTING, Status
from chat.queue import publish
from copilot_site.lib.orm import in_orm_thread

logger = logging.getLogger(__name__)

_STALE_SECONDS = 5.0
_FORGET_WORKERS_AFTER = 24 * 3600


class WorkerProcess:
    """Executes runs; made on first use, once a process."""

    _instance: Self | None = None
    _making = threading.Lock()

    def __init__(self) -> None:
        if settings.IS_SQLITE:
            # A file is opened once a thread; a pool serves PostgreSQL.
            connections["default"].settings_dict["CONN_MAX_AGE"] = None
        self.row = Worker.objects.create(hostname=socket.gethostname(), pid=os.getpid())
        self.loop = uvloop.new_event_loop()
        self._executions: dict[str, Execution] = {}
        self._mine: set[str] = set()
        self._suspects: set[str] = set()
        self._checkpoints: Checkpoints | None = None
        self._housekeeper = Housekeeper()
        self._last_beat = time.monotonic()
        self._closing = threading.Event()
        self._close_lock = threading.Lock()
        self._is_closed = False
        threading.Thread(target=self._run_loop, name="runs", daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._prepare(), self.loop).result(30)
        self._heart = threading.Thread(target=self._beat, name="heart", daemon=True)
        self._heart.start()

    @classmethod
    def of_this_process(cls) -> Self:
        with cls._making:
            if cls._instance is None:
                cls._instance = cls()
            return cls._instance

    # --- Runs ---------------------------------------------------------------

    def execute(self, run_id: str) -> None:
        """From a task's thread: returns when the run has ended or is not ours."""
        asyncio.run_coroutine_threadsafe(self._execute(run_id), self.loop).result()

    async def _execute(self, run_id: str) -> None:
        if self._closing.is_set():
            # The row still waits: a worker that stays publishes it again.
            return
        self._mine.add(run_id)
        try:
            run = await in_orm_thread(self._claim)(run_id)
            if run is not None:
                await self._go_on(run)
        finally:
            self._mine.discard(run_id)

    def _claim(self, run_id: str) -> Run | None:
        run = _with_all(run_id)
        return run if run is not None and run.claim(self.row) else None

    async def _go_on(self, run: Run) -> None:
        assert self._checkpoints is not None
        execution = Execution(run, self._checkpoints)
        self._executions[str(run.pk)] = execution
        try:
            await execution.execute()
        except Exception:
            # Its row still says that it runs: the sweep sets it free.
            logger.exception("Run %s could not be ended", run.pk)
        finally:
            self._executions.pop(str(run.pk), None)

    def stop(self, run_id: str, reason: str) -> None:
        """On the loop: end this run if it is executed here."""
        if execution := self._executions.get(run_id):
            execution.stop(reason)

    # --- Loop -----------------------------------------------------------------

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _prepare(self) -> None:
        self._checkpoints = Checkpoints()
        self._listener = asyncio.create_task(self._listen_for_stops())

    async def _listen_for_stops(self) -> None:
        """The quick way; the heartbeat looks at the rows as well."""
        while True:
            try:
                async with redis().pubsub() as channel:
                    await channel.subscribe(STOP_CHANNEL)
                    while True:
                        message = await channel.get_message(
                            ignore_subscribe_messages=True, timeout=5
                        )
                        if message is not None:
                            run_id, _, reason = message["data"].decode().split(" ", 2)
                            self.stop(run_id, reason)
            except (RedisError, OSError):
                await asyncio.sleep(1)

    # --- Heartbeat and sweep: a thread of its own, never behind a run's work ---------

    def _beat(self) -> None:
        period = settings.LEASE_SECONDS / 4
        while not self._closing.wait(period):
            try:
                close_old_connections()
                if not self.row.beat():
                    self._start_anew()
                self._last_beat = time.monotonic()
                self._sweep()
            except DatabaseError as error:
                logger.warning("No heartbeat: %s", type(error).__name__)
            except Exception:
                logger.exception("Sweep failed")
            if time.monotonic() - self._last_beat > settings.LEASE_SECONDS * 0.75:
                # Others may take these runs over any moment now.
                self.loop.call_soon_threadsafe(self._abandon_all)
                self._last_beat = time.monotonic()

    def _start_anew(self) -> None:
        """Somebody removed this worker's row: its runs are no longer its own."""
        self.loop.call_soon_threadsafe(self._abandon_all)
        self.row = Worker.objects.create(hostname=socket.gethostname(), pid=os.getpid())

    def _abandon_all(self) -> None:
        for execution in list(self._executions.values()):
            execution.abandon()

    def _sweep(self) -> None:
        """Hear of stops, take over what the dead left, publish what was lost."""
        mine = Run.objects.filter(worker=self.row, status=Status.STOPPING)
        for pk, reason in mine.values_list("pk", "reason"):
            self.loop.call_soon_threadsafe(self.stop, str(pk), reason)
        self._release_dropped()
        for orphan in Run.objects.orphaned(settings.LEASE_SECONDS):
            if orphan.takeovers >= settings.MAX_ATTEMPTS:
                self._give_up(orphan)
            elif orphan.take_over(self.row, settings.LEASE_SECONDS):
                logger.warning("Took over run %s", orphan.pk)
                self._resume(orphan)
        for run in Run.objects.stale(_STALE_SECONDS):
            waited = Run.objects.stale(_STALE_SECONDS).filter(pk=run.pk)
            if waited.update(published_at=Now()):
                publish(run)
        Worker.objects.dead(_FORGET_WORKERS_AFTER).delete()
        self._housekeeper.beat()
        self._release_closed_projects()

    def _release_closed_projects(self) -> None:
        """Their checkpoint stores: nothing can run there until they are opened."""
        assert self._checkpoints is not None
        if closed := closed_among(self._checkpoints.open_projects()):
            asyncio.run_coroutine_threadsafe(
                self._checkpoints.release(closed), self.loop
            )

    def _release_dropped(self) -> None:
        """Runs that are this worker's by their row alone, seen so twice: set free."""
        rows = Run.objects.filter(worker=self.row, status__in=EXECUTING)
        dropped = {str(pk) for pk in rows.values_list("pk", flat=True)} - self._mine
        twice = dropped & self._suspects
        self._suspects = dropped
        rows.filter(pk__in=twice).update(worker=None)

    def _give_up(self, orphan: Run) -> None:
        """It has killed or defeated every worker that tried."""
        logger.error("Run %s failed after %s attempts", orphan.pk, orphan.attempt)
        run = _with_all(str(orphan.pk))
        if run is not None:
            error = AttemptsUsedUp()
            with translation.override(language_for(run.session.user)):
                text = str(error)
            end_unowned_run(
                run, EXECUTING, Status.FAILED, error=text, error_code=error.code
            )
            asyncio.run_coroutine_threadsafe(self._forget(run), self.loop)

    async def _forget(self, run: Run) -> None:
        """Its last worker had no time to remove its checkpoints."""
        assert self._checkpoints is not None
        project = run.session.project
        async with self._checkpoints.of(project.project_id if project else "") as saver:
            await saver.adelete_thread(run.session.thread_id)

    def _resume(self, orphan: Run) -> None:
        self._mine.add(str(orphan.pk))
        run = _with_all(str(orphan.pk))
        if run is not None:
            asyncio.run_coroutine_threadsafe(self._resumed(run), self.loop)

    async def _resumed(self, run: Run) -> None:
        try:
            if run.status == Status.STOPPING:
                # The stop was asked of the worker that died.
                going = asyncio.create_task(self._go_on(run))
                await asyncio.sleep(0)
                self.stop(str(run.pk), run.reason or "user")
                await going
            else:
                await self._go_on(run)
        finally:
            self._mine.discard(str(run.pk))

    # --- Shutdown -----------------------------------------------------------------

    def close(self) -> None:
        """Give everything back; runs still going are taken over at once."""
        with self._close_lock:
            if not self._is_closed:
                self._is_closed = True
                self._close_once()

    def _close_once(self) -> None:
        self._closing.set()
        with contextlib.suppress(Exception):
            self._heart.join(2)
        future = asyncio.run_coroutine_threadsafe(self._close(), self.loop)
        with contextlib.suppress(Exception):
            future.result(5)
        with contextlib.suppress(DatabaseError):
            # Without its row the lease ends now, not in some seconds.
            self.row.delete()
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def _close(self) -> None:
        self._listener.cancel()
        self._abandon_all()
        ending = [execution.ended.wait() for execution in self._executions.values()]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(3):
                await asyncio.gather(*ending)
        if self._checkpoints is not None:
            await self._checkpoints.close()


def _with_all(run_id: str) -> Run | None:
    related = ("session__user", "session__project__server", "llm_config", "worker")
    return Run.objects.select_related(*related).filter(pk=run_id).first()
