"""Starts one process so that it cannot outlive the launcher."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scripts.launcher.output import Output

PR_SET_PDEATHSIG = 1


class Running:
    """A started process and the task that reads its output."""

    def __init__(
        self, process: asyncio.subprocess.Process, reading: asyncio.Task[None]
    ) -> None:
        self.pid = process.pid
        self._process = process
        self._reading = reading

    async def wait(self) -> int:
        """Its exit code, after its last line; whatever it left behind is killed."""
        code = await self._process.wait()
        self.signal(signal.SIGKILL)
        await asyncio.wait([self._reading], timeout=1)
        self._reading.cancel()
        return code

    async def end(self, grace: float) -> None:
        """SIGTERM, then SIGKILL, for the whole process group."""
        if self._process.returncode is None:
            self.signal(signal.SIGTERM)
            await asyncio.wait([asyncio.ensure_future(self.wait())], timeout=grace)
            self.signal(signal.SIGKILL)
        await self.wait()

    def signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # Already gone (macOS says "not permitted" of a zombie's group).
            return


async def start(
    argv: Sequence[str], *, environ: Mapping[str, str], cwd: Path, output: Output
) -> Running:
    """Start in a session of its own, which the terminal's Ctrl-C does not reach."""
    read_end, write_end = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=environ,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            # A pipe of our own: waiting ends with the process, not with its children.
            stdout=write_end,
            stderr=write_end,
            start_new_session=True,
            preexec_fn=_die_with_launcher(),
        )
    except OSError:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    return Running(process, asyncio.create_task(_read(read_end, output)))


def _die_with_launcher() -> Callable[[], None] | None:
    """Linux kills the child when its parent dies, even by kill -9."""
    if sys.platform != "linux":
        return None
    # Looked up before the fork: the child may only make the call.
    prctl, launcher = ctypes.CDLL(None).prctl, os.getpid()

    def set_signal() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != launcher:
            os._exit(1)

    return set_signal


async def _read(descriptor: int, output: Output) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    try:
        while data := await reader.read(65536):
            output.feed(data)
        output.flush()
    finally:
        transport.close()
