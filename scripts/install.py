"""Makes the virtual environment and keeps it as the requirement files say."""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = {"run": "requirements.txt", "dev": "requirements-dev.txt"}
FILES = ("constraints.txt", "requirements.txt", "requirements-dev.txt")
NEEDED_BYTES = {"run": 400 * 1024**2, "dev": 900 * 1024**2}
PROGRESS_SECONDS = 5.0


class InstallError(Exception):
    """Anticipated: its message tells a person what to do."""


def main(arguments: Sequence[str]) -> int:
    """Install what is missing, then become the environment's Python."""
    kind = "dev" if arguments[:1] == ["--dev"] else "run"
    rest = list(arguments[1:] if kind == "dev" else arguments)
    try:
        python = ensure_environment(ROOT, kind)
    except InstallError as exc:
        print(f"copilot: {exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130

    if rest:
        os.execv(python, [str(python), *rest])
    return 0


def ensure_environment(root: Path, kind: str) -> Path:
    """Return the environment's Python, with the requirements of `kind` installed."""
    environment = root / ".venv"
    python = environment / "bin" / "python"
    wanted = fingerprint(root, kind)
    if python.exists() and installed(environment, kind) == wanted:
        return python

    with one_at_a_time(root):
        if python.exists() and installed(environment, kind) == wanted:
            return python
        check_disk(root, kind)
        if not python.exists() or moved(environment):
            make_environment(environment)
        install(root, python, kind)
        stamp(environment, kind).write_text(wanted)
    return python


def fingerprint(root: Path, kind: str) -> str:
    """Changes with the requirements and the Python version."""
    digest = hashlib.sha256(f"{kind} {sys.version_info[:2]}".encode())
    for name in FILES if kind == "dev" else FILES[:2]:
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def stamp(environment: Path, kind: str) -> Path:
    return environment / f".copilot-{kind}"


def installed(environment: Path, kind: str) -> str:
    if moved(environment):
        return ""
    try:
        return stamp(environment, kind).read_text()
    except OSError:
        return ""


def moved(environment: Path) -> bool:
    """Whether the folder was renamed since: its scripts name the old path."""
    try:
        first_line = (environment / "bin" / "pip").read_text().partition("\n")[0]
    except OSError:
        return True
    return str(environment) not in first_line and not first_line.startswith("#!/bin/sh")


@contextmanager
def one_at_a_time(root: Path) -> Iterator[None]:
    """Two makes in one folder wait for each other."""
    folder = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def check_disk(root: Path, kind: str) -> None:
    free = shutil.disk_usage(root).free
    if free < NEEDED_BYTES[kind]:
        raise InstallError(
            f"The disk of {root} has {free // 1024**2} MB left;"
            f" {NEEDED_BYTES[kind] // 1024**2} MB are needed to install."
        )


def make_environment(environment: Path) -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise InstallError(
                f"{sys.executable} has no module {module!r}. On Debian or Ubuntu:"
                f" sudo apt install python{version}-venv (or python3-venv)."
            )
    command = [sys.executable, "-m", "venv", "--clear", str(environment)]
    code, lines = run_with_progress(command, "Making the virtual environment")
    if code:
        raise InstallError(explain(lines))


def install(root: Path, python: Path, kind: str) -> None:
    command = [
        *(str(python), "-m", "pip", "install", "--no-input", "--progress-bar", "off"),
        *("--disable-pip-version-check", "--retries", "2"),
        *("-c", "constraints.txt", "-r", REQUIREMENTS[kind]),
    ]
    code, lines = run_with_progress(
        command, f"Installing {REQUIREMENTS[kind]} (once; a minute or two)", cwd=root
    )
    (root / ".venv" / "install.log").write_text("\n".join(lines) + "\n")
    if code:
        raise InstallError(explain(lines))


def run_with_progress(
    command: Sequence[str], title: str, cwd: Path | None = None
) -> tuple[int, list[str]]:
    """Run a command; say every few seconds what it does and for how long."""
    print(f"{title} ...", flush=True)
    started = time.monotonic()
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        output = process.stdout
        reader = Thread(
            target=lambda: lines.extend(line.rstrip() for line in output), daemon=True
        )
        reader.start()
        try:
            while reader.is_alive():
                reader.join(PROGRESS_SECONDS)
                if reader.is_alive():
                    elapsed = time.monotonic() - started
                    print(f"  {elapsed:4.0f} s  {step(lines)}", flush=True)
            code = process.wait()
        except KeyboardInterrupt:
            process.terminate()
            raise
    print(f"  {time.monotonic() - started:4.0f} s  done", flush=True)
    return code, lines


def step(lines: Sequence[str]) -> str:
    """The latest thing that pip said it does, in a few words."""
    for line in reversed(lines):
        if line.startswith("Installing collected packages"):
            return f"Installing {line.count(',') + 1} packages"
        if found := re.match(r"\s*(Collecting|Downloading)\b[^(]*", line):
            return found.group().strip()[:70]
    return "working"


def explain(lines: Sequence[str]) -> str:
    """One clear line for the usual causes, else the end of the output."""
    text = "\n".join(lines)
    if "No space left on device" in text or "Errno 28" in text:
        return "The disk is full; free some space and run make again."
    unreachable = (
        r"Max retries exceeded|Retrying \(Retry|ConnectionError|Connection (refused|"
        r"broken)|Name or service not known|Temporary failure in name resolution|"
        r"Network is unreachable|ProxyError|SSLError|ReadTimeout"
    )
    if re.search(unreachable, text):
        return (
            "The Python package index can't be reached. Check the network or set"
            " PIP_INDEX_URL, PIP_PROXY or PIP_FIND_LINKS, then run make again."
        )
    missing = re.search(r"No matching distribution found for (\S+)", text)
    if missing:
        return (
            f"There is no {missing.group(1)} for this Python and platform. CPython"
            " 3.11 to 3.14 on Linux with glibc 2.28 or newer has all packages."
        )
    return "Installing failed:\n  " + "\n  ".join(lines[-15:])
