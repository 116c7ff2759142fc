"""A scripted telnet console, for the behaviour that no real device shows on demand."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from projects.consoles import ConsoleTarget

IAC = 255


class Peer:
    """The device's end of one connection; it keeps every key it was sent."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.keys = ""
        self.negotiated: list[tuple[int, int]] = []
        self._reader = reader
        self._writer = writer

    async def send(self, output: str | bytes) -> None:
        raw = output.encode() if isinstance(output, str) else output
        self._writer.write(raw)
        await self._writer.drain()

    async def key(self) -> str:
        """The next key; telnet commands are kept apart."""
        byte = (await self._reader.readexactly(1))[0]
        while byte == IAC:
            verb, option, byte = await self._reader.readexactly(3)
            self.negotiated.append((verb, option))
        self.keys += chr(byte)
        return chr(byte)

    async def line(self, *, is_echoed: bool = True) -> str:
        """A line up to CR, edited with backspace and Ctrl-U as devices do."""
        line = ""
        while (key := await self.key()) != "\r":
            erased = len(line) if key == "\x15" else int(key == "\b" and bool(line))
            line = line[: len(line) - erased]
            output = "\b \b" * erased
            if key.isprintable():
                line += key
                output = key
            if is_echoed:
                await self.send(output)
        if is_echoed:
            await self.send("\r\n")
        return line

    async def serve(self, prompt: str, answers: Mapping[str, str]) -> None:
        """A command line: unknown commands answer nothing, `echo` what it is given."""
        while True:
            await self.send(prompt)
            await self.answer(await self.line(), answers)

    async def answer(self, line: str, answers: Mapping[str, str]) -> None:
        if line.startswith("echo "):
            await self.send(line.removeprefix("echo ") + "\r\n")
        elif line in answers:
            await self.send(answers[line].replace("\n", "\r\n") + "\r\n")

    async def hang(self) -> None:
        while True:
            await self.key()


Script = Callable[[Peer], Awaitable[None]]


class FakeConsole:
    def __init__(self, port: int, peers: list[Peer]) -> None:
        self.port = port
        self.peers = peers

    @property
    def keys(self) -> str:
        """All that was typed, on whatever connection."""
        return "".join(peer.keys for peer in self.peers)

    def target(
        self, dialect: str, *, username: str = "", password: str = ""
    ) -> ConsoleTarget:
        return ConsoleTarget("R1", "127.0.0.1", self.port, dialect, username, password)


@asynccontextmanager
async def fake_console(script: Script) -> AsyncIterator[FakeConsole]:
    peers: list[Peer] = []
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        peers.append(peer)
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        # asyncio would log the cancellation of a connection's task as an error.
        with suppress(
            asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError
        ):
            await script(peer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield FakeConsole(server.sockets[0].getsockname()[1], peers)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
