"""Reading a model's stream: the stock client and ours, side by side, on one replay.

`python -m bench.provider`. CPU per token of long answers at full speed, then how many
streams of 20 tokens a second one process holds.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import cast

import httpx
import uvloop
from httpx_aiohttp import HttpxAiohttpClient
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_openai import ChatOpenAI

from chat.agent.translate import Assembler, TextPiece
from llmconfig.openai_model import OpenAIModel
from llmconfig.streaming import ask

TOKENS = 2_000
ROUNDS = 7
PER_SECOND = 20
PACED_TOKENS = 200
# Slower than the provider by more than this is not held.
ALLOWED = 0.05
QUESTION: list[AnyMessage] = [HumanMessage("Go.")]

Reader = Callable[[httpx.AsyncClient, str, str], Awaitable[int]]
Way = tuple[str, Reader, httpx.AsyncClient]


# --- The provider -----------------------------------------------------------------


def chunk(text: str, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    fields = {"id": "b", "object": "chat.completion.chunk", "created": 1, "model": "b"}
    data = b"data: %s\n\n" % json.dumps({**fields, "choices": [choice]}).encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
END = chunk("", "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


class Provider(asyncio.Protocol):
    """Says `token ` as often as asked, at once or at the pace; knows no more HTTP."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's are no subclass of it.
        self.transport = cast(asyncio.Transport, transport)
        self.seen = b""

    def data_received(self, data: bytes) -> None:
        self.seen += data
        head, blank, body = self.seen.partition(b"\r\n\r\n")
        lengths = [
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ]
        if not blank or not lengths or len(body) < lengths[0]:
            return
        self.seen = b""
        self.transport.write(HEAD)
        if json.loads(body)["model"] == "burst":
            self.transport.write(chunk("token ") * TOKENS + END)
            return
        self.left = PACED_TOKENS
        self.due = asyncio.get_running_loop().time()
        self.say()

    def say(self) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(chunk("token "))
        self.left -= 1
        if not self.left:
            self.transport.write(END)
            return
        self.due += 1 / PER_SECOND
        asyncio.get_running_loop().call_at(self.due, self.say)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Provider, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# --- The readers ------------------------------------------------------------------


async def stock(http: httpx.AsyncClient, url: str, name: str) -> int:
    model = ChatOpenAI(
        model=name,
        base_url=url,
        api_key="none",  # type: ignore[arg-type]
        http_async_client=http,
        stream_usage=True,
    )
    return len(
        "".join([str(piece.content) async for piece in model.astream(QUESTION)]).split()
    )


async def ours(http: httpx.AsyncClient, url: str, name: str) -> int:
    model = OpenAIModel(
        model=name,
        base_url=url,
        api_key="none",  # type: ignore[arg-type]
        http_async_client=http,
        max_retries=0,
    )
    assembler, pieces = Assembler(), []
    async for delta in ask(model, QUESTION):
        for piece in assembler.feed(delta):
            if isinstance(piece, TextPiece):
                pieces.append(piece.text)
    return len("".join(pieces).split())


async def cpu_per_token(read: Reader, http: httpx.AsyncClient, url: str) -> float:
    """Microseconds of this process."""
    begun = time.process_time()
    count = await read(http, url, "burst")
    assert count == TOKENS, count
    return (time.process_time() - begun) / TOKENS * 1e6


@dataclass
class Load:
    """What so many paced streams at once came to."""

    streams: int
    over: float
    cpu: float
    cpu_seconds: float


async def load(read: Reader, http: httpx.AsyncClient, url: str, streams: int) -> Load:
    """How much longer 95 % of streams took at most than the provider needs."""

    async def one(number: int) -> float:
        # Not all at the same moment: people do not ask in chorus either.
        await asyncio.sleep(number / streams * 2)
        begun = time.perf_counter()
        assert await read(http, url, "paced") == PACED_TOKENS
        return time.perf_counter() - begun

    begun, cpu = time.perf_counter(), time.process_time()
    taken = sorted(await asyncio.gather(*map(one, range(streams))))
    cpu, elapsed = time.process_time() - cpu, time.perf_counter() - begun
    ideal = (PACED_TOKENS - 1) / PER_SECOND
    return Load(streams, taken[len(taken) * 95 // 100] / ideal - 1, cpu / elapsed, cpu)


async def measure(url: str, steps: list[int]) -> None:
    limits = httpx.Limits(max_connections=5_000, max_keepalive_connections=5_000)
    async with (
        httpx.AsyncClient(limits=limits, timeout=120) as plain,
        HttpxAiohttpClient(limits=limits, timeout=120) as quick,
    ):
        ways: list[Way] = [
            ("stock over httpx", stock, plain),
            ("stock over aiohttp", stock, quick),
            ("ours over httpx", ours, plain),
            ("ours over aiohttp", ours, quick),
        ]
        best = {name: float("inf") for name, _, _ in ways}
        for _ in range(ROUNDS):
            for name, read, http in ways:
                cost = await cpu_per_token(read, http, url)
                best[name] = min(best[name], cost)
        first = best[ways[0][0]]
        print(f"CPU per token, {TOKENS:,} tokens at full speed, best of {ROUNDS}:")
        for name, cost in best.items():
            print(f"  {name:20} {cost:7.1f} µs  1/{first / cost:.1f}")
        print(f"Streams of {PER_SECOND} tokens a second in one process:")
        for way in ways:
            await find_limit(way, url, steps)


async def find_limit(way: Way, url: str, steps: list[int]) -> None:
    """More and more streams, until they are late."""
    name, read, http = way
    for streams in steps:
        found = await load(read, http, url, streams)
        is_held = found.over <= ALLOWED
        per_token = found.cpu_seconds / streams / PACED_TOKENS * 1e6
        print(
            f"  {name:20} {streams:5} streams: {found.over:6.1%} over ideal, "
            f"CPU {found.cpu:4.0%}, {per_token:4.0f} µs a token, "
            f"{'held' if is_held else 'not held'}",
            flush=True,
        )
        if not is_held:
            return


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--serve", action="store_true", help="be the provider")
    options.add_argument(
        "--streams", type=int, nargs="+", default=[50, 100, 200, 300, 400, 600, 800]
    )
    chosen = options.parse_args()
    if chosen.serve:
        uvloop.run(serve())
        return
    command = [sys.executable, "-m", "bench.provider", "--serve"]
    provider = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert provider.stdout is not None
        url = f"http://127.0.0.1:{int(provider.stdout.readline())}/v1"
        uvloop.run(measure(url, chosen.streams))
    finally:
        provider.terminate()
        provider.wait()


if __name__ == "__main__":
    main()
