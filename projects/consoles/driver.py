"""Runs commands on a device's console, within a time limit whatever happens."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from projects.consoles.connection import Console
from projects.consoles.dialect import Dialect
from projects.consoles.dialects import DIALECTS
from projects.consoles.errors import (
    ConsoleBusy,
    ConsoleClosed,
    ConsoleError,
    ConsoleRefused,
    ConsoleTimeout,
    ConsoleUnsupported,
)
from projects.consoles.locks import in_process_lock
from projects.consoles.policy import split_lines
from projects.consoles.session import Session
from projects.consoles.types import CommandResult, ConsoleTarget

Lock = Callable[[str], AbstractAsyncContextManager[None]]

# What may pass after the time limit, to end a command and hang up.
GRACE = 2.0


async def run_commands(
    target: ConsoleTarget,
    commands: Sequence[str],
    *,
    time_limit: float = 60.0,
    output_limit: int = 20_000,
    lock: Lock = in_process_lock,
) -> list[CommandResult]:
    """One result a line, in order; an error holds the results that came before it."""
    dialect = DIALECTS.get(target.dialect)
    if dialect is None:
        allowed = ", ".join(DIALECTS)
        raise ConsoleUnsupported(
            f"The command line of {target.name} is not known here. Known: {allowed}."
        )
    lines = [line for command in commands for line in split_lines(command)]
    if not lines:
        return []
    run = _Run(target, dialect, lines, output_limit)
    try:
        async with asyncio.timeout(time_limit), lock(target.address):
            await run.execute()
    except ConsoleError as exc:
        exc.results = [*run.results, *exc.results]
        raise
    except TimeoutError as exc:
        raise run.out_of_time(time_limit) from exc
    return run.results


class _Run:
    """The state of one call, kept so that a time limit can say what it cut off."""

    def __init__(
        self,
        target: ConsoleTarget,
        dialect: Dialect,
        lines: Sequence[str],
        output_limit: int,
    ) -> None:
        self.results: list[CommandResult] = []
        self._target = target
        self._dialect = dialect
        self._lines = lines
        self._output_limit = output_limit
        self._has_lock = False
        self._session: Session | None = None
        self._running = ""
        self._partial = ""
        self._started = 0.0

    async def execute(self) -> None:
        self._has_lock = True
        console = await Console.connect(self._target, self._output_limit)
        session = self._session = Session(self._target, self._dialect, console)
        try:
            await self._converse(session)
        except asyncio.CancelledError:
            await self._break_off(session)
            raise
        finally:
            await console.close()

    async def _converse(self, session: Session) -> None:
        await session.open()
        for line in self._lines:
            self._running = line
            self._started = asyncio.get_running_loop().time()
            self.results.append(await session.run(line))
            self._running = ""
        await session.leave()

    async def _break_off(self, session: Session) -> None:
        if self._running:
            self._partial = session.partial_output()
            with contextlib.suppress(ConsoleClosed, TimeoutError):
                async with asyncio.timeout(GRACE):
                    await session.interrupt()

    def out_of_time(self, time_limit: float) -> ConsoleError:
        """What the time limit cut off: the wait for others, the start, or a command."""
        if not self._has_lock:
            return ConsoleBusy(
                f"The console of {self._target} is used by another conversation. "
                "Try again when it has ended."
            )
        if self._session is None:
            return ConsoleRefused(
                f"The console of {self._target} did not answer within {time_limit:g} s."
            )
        if not self._running:
            error: ConsoleError = self._session.synchroniser.out_of_time()
            error.results = self.results
            return error
        message = (
            f"{self._running!r} on {self._target} did not end within {time_limit:g} s "
            "and was interrupted. Use a shorter command, or fewer at a time."
        )
        elapsed = round(asyncio.get_running_loop().time() - self._started, 3)
        cut = CommandResult(self._running, self._partial, True, message, elapsed)
        return ConsoleTimeout(message, [*self.results, cut])
