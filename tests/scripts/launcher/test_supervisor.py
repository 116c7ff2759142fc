import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scripts.launcher import supervisor
from scripts.launcher.supervisor import Child, Supervisor
from tests.scripts.waiting import until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
PARENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(600)"
)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Supervisor]:
    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=0.5
    ) as result:
        yield result


def start(watched: Supervisor, code: str, name: str = "web") -> Child:
    return watched.start(name, [sys.executable, "-c", code])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Killed orphans may wait for init to collect them.
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


async def first_pid(child: Child) -> int:
    await until(lambda: bool(child.output.last_lines), "the first line")
    assert child.running
    return child.running.pid


async def test_killed_process_is_started_again(watched: Supervisor) -> None:
    child = start(watched, SLEEP)
    pid = await first_pid(child)

    os.kill(pid, signal.SIGKILL)

    await until(lambda: len(child.output.last_lines) == 2, "second start")
    assert child.running is not None
    assert child.running.pid != pid
    assert child.exits == 1


async def test_restarts_slow_down(
    watched: Supervisor,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_DELAY", 0.1)
    child = start(watched, "import sys; sys.exit(3)")

    await until(lambda: child.exits == 3, "three ends")

    said = [line for line in capsys.readouterr().out.splitlines() if "again" in line]
    assert said[0] == "web    | ended with code 3; starting again in 0.1 s"
    assert said[1].endswith("in 0.2 s")


async def test_missing_program_is_said_and_tried_again(
    watched: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    child = watched.start("web", ["/no/such/program"])

    await until(lambda: child.exits == 2, "two tries")

    assert "can't be started" in capsys.readouterr().out


async def test_end_stops_all_even_one_that_ignores_sigterm(tmp_path: Path) -> None:
    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=0.5
    ) as watched:
        pids = [
            await first_pid(start(watched, SLEEP, "web")),
            await first_pid(start(watched, DEAF, "worker")),
        ]
        began = time.monotonic()

    assert time.monotonic() - began < 30
    assert not any(is_alive(pid) for pid in pids)


async def test_grandchildren_end_with_their_parent(tmp_path: Path) -> None:
    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=5
    ) as watched:
        child = start(watched, PARENT)
        await first_pid(child)
        grandchild = int(child.output.last_lines[0])

    await until(lambda: not is_alive(grandchild), "the grandchild's end")


async def test_process_waiting_for_its_restart_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_DELAY", 600.0)
    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=5
    ) as watched:
        child = start(watched, "")
        await until(lambda: child.exits == 1, "its end")
        began = time.monotonic()

    assert time.monotonic() - began < 30


async def test_last_words_of_a_process_are_kept(watched: Supervisor) -> None:
    child = start(watched, "raise SystemExit('no module named chat')")

    await until(lambda: child.exits == 1, "its end")

    assert "no module named chat" in child.output.last_lines
