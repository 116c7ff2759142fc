"""The telnet port of a simulated console, as GNS3 wraps a device's console."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from projects.demolab.cli import Cli
from projects.demolab.terminal import Terminal

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
BINARY, ECHO, SGA = 0, 1, 3
GREETING = bytes([IAC, WILL, ECHO, IAC, WILL, SGA, IAC, WILL, BINARY, IAC, DO, BINARY])
OFFERED = {ECHO, SGA, BINARY}
# A client that does not read is dropped rather than kept in memory.
BACKLOG_LIMIT = 1_000_000
# A subnegotiation that never ends is dropped.
COMMAND_LIMIT = 1000


class Negotiation:
    """Splits a client's bytes into text and commands; answers an option once."""

    def __init__(self) -> None:
        self._pending = b""
        self._answered: set[tuple[int, int]] = set()

    def feed(self, data: bytes) -> tuple[str, bytes]:
        """The text typed and the bytes to answer."""
        data = self._pending + data
        text = bytearray()
        answer = bytearray()
        index = 0
        while index < len(data):
            if data[index] != IAC:
                text.append(data[index])
                index += 1
                continue
            length = self._command_length(data, index)
            if length is None:
                break
            command = data[index : index + length]
            if command == bytes([IAC, IAC]):
                text.append(IAC)
            elif length == 3:
                answer += self._answer(command[1], command[2])
            index += length
        rest = data[index:]
        self._pending = rest if len(rest) <= COMMAND_LIMIT else b""
        return text.decode("utf-8", "replace"), bytes(answer)

    @staticmethod
    def _command_length(data: bytes, index: int) -> int | None:
        if index + 1 >= len(data):
            return None
        if data[index + 1] in (DO, DONT, WILL, WONT):
            return 3 if index + 2 < len(data) else None
        if data[index + 1] == SB:
            end = data.find(bytes([IAC, SE]), index)
            return None if end < 0 else end + 2 - index
        return 2

    def _answer(self, verb: int, option: int) -> bytes:
        if (verb, option) in self._answered:
            return b""
        self._answered.add((verb, option))
        if verb == DO and option not in OFFERED:
            return bytes([IAC, WONT, option])
        if verb == WILL and option not in (BINARY, SGA):
            return bytes([IAC, DONT, option])
        return b""


class Console:
    """Listens while its node runs; all clients share one terminal."""

    def __init__(self, cli: Cli, pace: float) -> None:
        self._terminal = Terminal(cli, self._broadcast, pace)
        self._clients: set[asyncio.StreamWriter] = set()
        self._handlers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._session: asyncio.Task[None] | None = None
        self._is_greeted = False

    async def start(self, host: str, port: int) -> None:
        """Listen; raises OSError when the port is taken."""
        self._server = await asyncio.start_server(self._client, host, port)
        self._session = asyncio.create_task(self._terminal.serve())

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._clients):
            writer.close()
        for task in [*self._handlers, self._session]:
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._server is not None:
            await self._server.wait_closed()

    async def _client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self._clients.add(writer)
        writer.write(GREETING)
        if not self._is_greeted:
            self._is_greeted = True
            self._terminal.greet()
        negotiation = Negotiation()
        try:
            while data := await reader.read(4096):
                text, answer = negotiation.feed(data)
                if answer:
                    writer.write(answer)
                self._terminal.feed(text)
        except (ConnectionError, asyncio.CancelledError):
            # A handler that ends cancelled would be reported as an error by asyncio.
            pass
        finally:
            self._clients.discard(writer)
            self._handlers.discard(task)
            writer.close()

    def _broadcast(self, text: str) -> None:
        # UTF-8 never holds the byte 255, so nothing needs to be doubled.
        data = text.encode()
        for writer in list(self._clients):
            if writer.transport.get_write_buffer_size() > BACKLOG_LIMIT:
                self._clients.discard(writer)
                writer.transport.abort()
            elif not writer.is_closing():
                writer.write(data)
