"""make bench: what the running product costs and how fast it is, as a table."""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import psutil

from bench.client import Client, Heard, client_of
from tests.faults.workers import add_second_worker, executor
from tests.stack import ROOT, Stack, dying_with_parent, free_port

PACE = 0.02
Row = tuple[str, str]
# A word of the command line, and what the process is.
PARTS = {
    "daphne": "web",
    "celery": "worker",
    "bench.model": "mock model",
    "valkey": "Valkey",
    "postgres": "PostgreSQL",
}


async def first_token(client: Client, model_url: str) -> Row:
    """From POST to the first token, less what the model itself takes."""
    ours = [await _first_of(client) for _ in range(20)]
    own = [await _model_alone(model_url) for _ in range(20)]
    added = statistics.median(ours) - statistics.median(own)
    return "time to first token added, 1 user", f"{added * 1000:.1f} ms"


async def _first_of(client: Client) -> float:
    started = time.monotonic()
    return (await client.ask(3)).arrivals[0] - started


async def _model_alone(url: str) -> float:
    body = {"messages": [{"role": "user", "content": "1"}]}
    started = time.monotonic()
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/chat/completions", json=body) as response,
    ):
        await response.content.readline()
    return time.monotonic() - started


async def streams(
    client: Client, count: int, tokens: int, cpu: Callable[[], dict[str, float]]
) -> list[Row]:
    """Many conversations at once, each at fifty tokens a second."""
    before, started = cpu(), time.monotonic()
    heard = await asyncio.gather(*(client.ask(tokens) for _ in range(count)))
    spent = {name: seconds - before.get(name, 0.0) for name, seconds in cpu().items()}
    arrivals = sorted(at for one in heard for at in one.arrivals)
    assert len(arrivals) == count * tokens, "tokens are missing or doubled"
    # The model says a run's first token at once: n tokens take n - 1 paces.
    rate = len(arrivals) / (arrivals[-1] - started)
    ideal = count * tokens / ((tokens - 1) * PACE)
    name, per_token = f"{count} streams", len(arrivals) / 1e6
    return [
        (f"{name}, POST to last token", f"{rate:.0f} tok/s of {ideal:.0f}"),
        (f"{name}, relay p50 / p95", _milliseconds(heard)),
        (f"{name}, CPU per token", f"{sum(spent.values()) / per_token:.0f} µs"),
        *(
            (f"  of which {part}", f"{seconds / per_token:.0f} µs")
            for part, seconds in sorted(spent.items())
            if seconds / per_token >= 1
        ),
    ]


async def followers(client: Client, count: int) -> list[Row]:
    """One run, followed by many."""
    session_id = await client.start(250)
    heard = [Heard() for _ in range(count)]
    await asyncio.gather(*(client.follow(session_id, one) for one in heard))
    whole = [event["seq"] for event in heard[0].events if "seq" in event]
    same = sum(
        [event["seq"] for event in one.events if "seq" in event] == whole
        for one in heard
    )
    # What was said before the last one had joined is a replay, not a relay.
    joined = max(one.arrivals[0] for one in heard)
    for one in heard:
        pairs = zip(one.delays, one.arrivals, strict=True)
        one.delays = [delay for delay, at in pairs if at > joined]
    return [
        (f"{count} followers, relay p50 / p95", _milliseconds(heard)),
        (f"{count} followers with the same list", f"{same}"),
    ]


async def stop(client: Client) -> Row:
    """From the stop request to the last token."""
    late = []
    for _ in range(5):
        session_id, heard = await client.start(1000), Heard()
        following = asyncio.create_task(client.follow(session_id, heard))
        await heard.until(has_fifty)
        asked = time.monotonic()
        await client.stop(session_id)
        await following
        late.append(max(heard.arrivals[-1] - asked, 0.0))
    text = f"{statistics.median(late) * 1000:.0f} / {max(late) * 1000:.0f} ms"
    return "stop to last token, median / worst of 5", text


async def kill(stack: Stack, client: Client) -> Row:
    """kill -9 of the worker in mid-answer, a second one alive."""
    await asyncio.to_thread(add_second_worker, stack)
    session_id, heard = await client.start(150), Heard()
    following = asyncio.create_task(client.follow(session_id, heard))
    await heard.until(has_fifty)
    stack.kill(executor(stack))
    killed = time.monotonic()
    await heard.until(lambda one: one.events[-1].get("attempt") == 2)
    known = len(heard.arrivals)
    await heard.until(lambda one: len(one.arrivals) > known)
    seconds = heard.arrivals[known] - killed
    await following
    return "kill -9 to first new token", f"{seconds:.1f} s"


def has_fifty(heard: Heard) -> bool:
    return len(heard.arrivals) >= 50


def _milliseconds(heard: list[Heard]) -> str:
    delays = sorted(delay for one in heard for delay in one.delays)
    middle, high = delays[len(delays) // 2], delays[int(len(delays) * 0.95)]
    return f"{middle * 1000:.0f} / {high * 1000:.0f} ms"


def cpu_of_all() -> dict[str, float]:
    """Seconds of this process and of all that it started, by their part."""
    me = psutil.Process()
    spent = {"load generator": sum(me.cpu_times()[:2])}
    for process in me.children(recursive=True):
        line = " ".join(process.cmdline())
        part = next((part for word, part in PARTS.items() if word in line), "others")
        spent[part] = spent.get(part, 0.0) + sum(process.cpu_times()[:2])
    return spent


@contextmanager
def model_server() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        dying_with_parent([sys.executable, "-m", "bench.model", str(port)]), cwd=ROOT
    )
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


async def measure(stack: Stack, model_url: str, tokens: int) -> None:
    """Print each row as soon as it is known."""
    async with client_of(stack) as client:
        # Imports and pools are made before, as in a server that has run a while.
        await asyncio.gather(*(client.ask(20) for _ in range(20)))
        show([await first_token(client, model_url)])
        for count in (30, 100):
            show(await streams(client, count, tokens, cpu_of_all))
        show(await followers(client, 100))
        show([await stop(client)])
        show([await kill(stack, client)])


def show(rows: list[Row]) -> None:
    for name, text in rows:
        print(f"{name:<42}{text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--tokens", type=int, default=500, help="per stream")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="copilot-bench-") as folder,
        model_server() as model_url,
    ):
        env = {
            "LLM_BASE_URL": model_url,
            "LLM_MODEL": "bench",
            # The product's own default, not that of the tests.
            "LEASE_SECONDS": "4",
        }
        with Stack(Path(folder), database=chosen.database, env=env) as stack:
            print(
                f"{chosen.database}, {os.cpu_count()} cores, load {os.getloadavg()[0]}."
                " Mock model, load generator, Valkey and database share them.\n"
            )
            asyncio.run(measure(stack, model_url, chosen.tokens))
    return 0


if __name__ == "__main__":
    sys.exit(main())
