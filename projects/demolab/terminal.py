"""The shared terminal before a device's command line: echo, editing, paging, breaks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from projects.demolab.cli import Ask, Cli, Paged, Step, Steps, Wait

logger = logging.getLogger(__name__)

CTRL_C, CTRL_U, CTRL_Z, BREAK = "\x03", "\x15", "\x1a", "\x1e"
MORE = " --More-- "
# More than any line a person types; what is longer is cut, not stored.
LINE_LIMIT = 1000
QUEUE_LIMIT = 100_000


class Terminal:
    """One session, shared by all clients of a console."""

    def __init__(self, cli: Cli, send: Callable[[str], None], pace: float) -> None:
        self._cli = cli
        self._send = send
        self._pace = pace
        self._keys: asyncio.Queue[str] = asyncio.Queue(maxsize=QUEUE_LIMIT)
        self._interrupted = asyncio.Event()
        self._is_running = False
        self._last_key = ""

    def feed(self, text: str) -> None:
        """Take what a client typed; a break is heard at once, the rest in order."""
        for key in text:
            # Return arrives as CR, LF, CR LF or CR NUL, also in two packets.
            is_second_half = self._last_key == "\r" and key in ("\n", "\0")
            self._last_key = key
            if is_second_half:
                continue
            if key in (CTRL_C, BREAK) and self._is_running:
                while not self._keys.empty():
                    self._keys.get_nowait()
                self._interrupted.set()
                continue
            with suppress(asyncio.QueueFull):
                self._keys.put_nowait(key)

    def greet(self) -> None:
        self._print(self._cli.banner())
        self._send(self._cli.prompt())

    async def serve(self) -> None:
        """Read lines and run them, for as long as the device runs."""
        while True:
            line = await self._read_line(self._cli.prompt, is_command=True)
            self._is_running = True
            self._interrupted.clear()
            try:
                await self._run(self._cli.run(line))
            except Exception:
                # A console that dies of one command would look like a hung device.
                logger.exception("A simulated console failed at %r", line)
                self._print("% The simulated device failed at this command.\n")
            finally:
                self._is_running = False
            self._send(self._cli.prompt())

    async def _run(self, steps: Steps) -> None:
        answer = ""
        is_first = True
        try:
            while not self._interrupted.is_set():
                step = next(steps) if is_first else steps.send(answer)
                is_first = False
                answer = await self._take(step)
            self._print("\n")
        except StopIteration:
            return
        finally:
            steps.close()

    async def _take(self, step: Step) -> str:
        match step:
            case str():
                self._print(step)
            case Wait():
                await self._pause(step.packets * self._pace)
            case Paged():
                await self._page(step.text)
            case Ask():
                self._is_running = False
                self._send(step.question)
                line = await self._read_line(lambda: step.question, is_command=False)
                self._is_running = True
                return line
        return ""

    async def _pause(self, seconds: float) -> None:
        # Without the sleep an endless ping at pace 0 would never let others run.
        await asyncio.sleep(0)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._interrupted.wait(), seconds)

    async def _page(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        step = max(self._cli.page_length - 1, 1) if self._cli.page_length else 0
        if not step:
            self._print(text)
            return
        room = step
        for index, line in enumerate(lines):
            if room == 0:
                self._send(MORE)
                key = await self._next_key()
                self._send("\b" * len(MORE) + " " * len(MORE) + "\b" * len(MORE))
                if key not in (" ", "\r", "\n"):
                    return
                room = step if key == " " else 1
            self._print(line)
            room -= 1
            if self._interrupted.is_set() and index:
                return

    async def _next_key(self) -> str:
        self._is_running = False
        try:
            return await self._keys.get()
        finally:
            self._is_running = True

    async def _read_line(self, prompt: Callable[[], str], *, is_command: bool) -> str:
        line = ""
        while True:
            key = await self._keys.get()
            if key in ("\r", "\n"):
                self._send("\r\n")
                return line
            if key in (CTRL_C, CTRL_Z):
                self._send("^C\r\n" if key == CTRL_C else "^Z\r\n")
                if not is_command:
                    return key
                self._cli.leave(key)
                self._send(prompt())
                line = ""
            elif key in ("\b", "\x7f"):
                if line:
                    line = line[:-1]
                    self._send("\b \b")
            elif key == CTRL_U:
                self._send("\b \b" * len(line))
                line = ""
            elif key == "?" and is_command and self._cli.has_instant_help:
                self._send("?\r\n")
                self._print(self._cli.help(line))
                self._send(prompt() + line)
            elif key.isprintable() and len(line) < LINE_LIMIT:
                line += key
                self._send(key)

    def _print(self, text: str) -> None:
        self._send(text.replace("\n", "\r\n"))
