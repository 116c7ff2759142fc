"""Waits for the first answer, then says where and who."""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from scripts.launcher.config import Config
from scripts.launcher.errors import LaunchError
from scripts.launcher.output import say
from scripts.launcher.supervisor import Child

READY_SECONDS = 60.0
PROGRESS_SECONDS = 5.0
HOPELESS_EXITS = 3
# Long enough to fail on an import; web needs as long for its first answer.
SETTLED_SECONDS = 2.0


async def wait_until_ready(address: str, children: Sequence[Child]) -> None:
    """Returns at the first 200 of /healthz with every process up."""
    clock = asyncio.get_running_loop().time
    started, said, status, body = clock(), clock(), "", ""
    while True:
        failing = [child for child in children if child.exits >= HOPELESS_EXITS]
        if failing:
            raise _not_up(failing[0], "ends again and again")
        if all(child.uptime > SETTLED_SECONDS for child in children):
            status, body = await health(address)
            if status == "200":
                return
        if clock() - started > READY_SECONDS:
            late = next((child for child in children if child.exits), children[0])
            answer = f" (/healthz: {body[:200]})" if body else ""
            raise _not_up(late, f"is not up after {READY_SECONDS:.0f} s{answer}")
        if clock() - said > PROGRESS_SECONDS:
            said = clock()
            say(f"  {said - started:4.0f} s  {body[:80] or 'starting'}")
        # An answer that isn't 200 is a line in the log of web.
        await asyncio.sleep(0.5 if status else 0.1)


async def health(address: str) -> tuple[str, str]:
    """Status and last line of one plain request; empty if nobody answers."""
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                request = f"GET /healthz HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n"
                writer.write(request.encode())
                lines = (await reader.read()).decode(errors="replace").splitlines()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return "", ""
    return ("".join(lines[0].split()[1:2]), lines[-1]) if lines else ("", "")


def box(config: Config, logins: Sequence[tuple[str, str]]) -> str:
    """The few lines that a person needs now."""
    lines = [f"Copilot is ready: {config.address}/", ""]
    if config.host in ("0.0.0.0", "::"):
        lines[1:1] = ["Other machines reach it too (set ALLOWED_HOSTS to its names)"]
    lines += [f"login {user:<8} password {password}" for user, password in logins]
    lines += [
        "",
        f"Lab:   {'simulated (set GNS3_URL for yours)' if config.has_lab else 'yours'}",
        f"Model: {_model(config)}",
        f"Logs:  {config.data_dir / 'logs'}",
        "Ctrl-C ends it.",
    ]
    width = max(map(len, lines))
    edge = f"+{'-' * (width + 2)}+"
    return "\n".join([edge, *(f"| {line:<{width}} |" for line in lines), edge])


def _model(config: Config) -> str:
    if config.has_model:
        return "LLM_BASE_URL"
    return "built-in offline rules (set LLM_BASE_URL, or add one on the page)"


def _not_up(child: Child, what: str) -> LaunchError:
    lines = "\n  ".join(child.output.last_lines) or "(it printed nothing)"
    return LaunchError(f"{child.name} {what}. Its last lines:\n  {lines}")
