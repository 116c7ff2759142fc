"""Keeps processes running until told to end them."""

import asyncio
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from scripts.launcher import processes
from scripts.launcher.output import Output

FIRST_DELAY = 0.2
LONGEST_DELAY = 10.0
# Up for this long, and the next end is a new story: the delay starts over.
STEADY_SECONDS = 20.0


class Child:
    """One process that is started again whenever it ends."""

    def __init__(self, name: str, argv: Sequence[str], output: Output) -> None:
        self.name = name
        self.argv = list(argv)
        self.output = output
        self.exits = 0
        self.running: processes.Running | None = None
        self.started = 0.0

    @property
    def uptime(self) -> float:
        return time.monotonic() - self.started if self.running else 0.0

    def kill(self) -> None:
        if self.running:
            self.running.signal(signal.SIGKILL)

    async def keep_running(
        self, environ: Mapping[str, str], cwd: Path, grace: float
    ) -> None:
        """Returns only by cancellation, when the process has ended."""
        delay = FIRST_DELAY
        while True:
            self.started = time.monotonic()
            reason = await self._run_once(environ, cwd, grace)
            self.exits += 1
            if time.monotonic() - self.started > STEADY_SECONDS:
                delay = FIRST_DELAY
            self.output.say(f"{reason}; starting again in {delay:.1f} s")
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)

    async def _run_once(
        self, environ: Mapping[str, str], cwd: Path, grace: float
    ) -> str:
        try:
            self.running = await processes.start(
                self.argv, environ=environ, cwd=cwd, output=self.output
            )
        except OSError as exc:
            return f"can't be started: {exc}"
        try:
            code = await self.running.wait()
        except asyncio.CancelledError:
            await self.running.end(grace)
            raise
        finally:
            self.running = None
        return f"killed by signal {-code}" if code < 0 else f"ended with code {code}"


class Supervisor:
    """Its children live as long as its `async with` block."""

    def __init__(
        self, *, environ: Mapping[str, str], cwd: Path, logs: Path, grace: float
    ) -> None:
        self.children: list[Child] = []
        self._environ = environ
        self._cwd = cwd
        self._logs = logs
        self._grace = grace
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, name: str, argv: Sequence[str], *, is_shown: bool = True) -> Child:
        child = Child(name, argv, Output(name, self._logs, is_shown=is_shown))
        self.children.append(child)
        self._tasks.append(
            asyncio.create_task(
                child.keep_running(self._environ, self._cwd, self._grace)
            )
        )
        return child

    def kill(self) -> None:
        """For the impatient: no grace, and no new start."""
        for task in self._tasks:
            if not task.cancelling():
                task.cancel()
        for child in self.children:
            child.kill()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for child in self.children:
            child.output.close()
