"""A telnet connection to a console, seen as a screen."""

import asyncio
import codecs
import contextlib
from typing import Self

from projects.consoles.errors import ConsoleClosed, ConsoleRefused
from projects.consoles.screen import Screen
from projects.consoles.telnet import TelnetStream
from projects.consoles.types import ConsoleTarget

CONNECT_LIMIT = 5.0
CLOSE_LIMIT = 1.0
CHUNK = 8192


class Console:
    def __init__(
        self,
        target: ConsoleTarget,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        output_limit: int,
    ) -> None:
        self.screen = Screen(output_limit)
        self.received = 0
        self._target = target
        self._reader = reader
        self._writer = writer
        self._telnet = TelnetStream()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    @classmethod
    async def connect(cls, target: ConsoleTarget, output_limit: int) -> Self:
        opening = asyncio.open_connection(target.host, target.port)
        try:
            async with asyncio.timeout(CONNECT_LIMIT):
                reader, writer = await opening
        except TimeoutError as exc:
            raise ConsoleRefused(
                f"The console of {target} can't be reached: no answer within "
                f"{CONNECT_LIMIT:g} s. Check the address and the network between."
            ) from exc
        except OSError as exc:
            raise ConsoleRefused(
                f"The console of {target} refuses the connection. Start the node; if "
                "it runs, its console must listen on an address reachable from here."
            ) from exc
        return cls(target, reader, writer, output_limit)

    def send(self, keys: str) -> None:
        self._writer.write(keys.encode())

    async def read(self, seconds: float) -> bool:
        """Put what comes next on the screen; False if nothing came in time."""
        try:
            async with asyncio.timeout(seconds):
                received = await self._reader.read(CHUNK)
        except TimeoutError:
            return False
        except OSError:
            received = b""
        if not received:
            raise ConsoleClosed(
                f"The console of {self._target} closed the connection. Another client "
                "may hold it, or its session was ended: stop and start the node."
            )
        data, replies = self._telnet.feed(received)
        if replies:
            self._writer.write(replies)
        self.received += len(data)
        self.screen.feed(self._decoder.decode(data))
        return bool(data)

    async def read_until_quiet(self, quiet: float, limit: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit
        while loop.time() < deadline and await self.read(quiet):
            pass

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT):
                await self._writer.wait_closed()
