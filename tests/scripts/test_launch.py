"""The launcher as a person meets it, with small stand-ins for our own processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts.install import ROOT
from tests.scripts.waiting import wait_until

pytestmark = pytest.mark.needs("valkey")

LAUNCHER = """
import os, pathlib, sys
from scripts import launch
from scripts.launcher import ready
from scripts.launcher.config import Config
from scripts.launcher.errors import LaunchError

ready.READY_SECONDS = float(os.environ.get("READY_SECONDS", "60"))
ready.SETTLED_SECONDS = float(os.environ.get("SETTLED_SECONDS", "0.2"))
root = pathlib.Path(sys.argv[1])
try:
    chosen = Config.from_environ(os.environ, root)
    prepare = [sys.executable, "-c", os.environ["PREPARE"]]
    sys.exit(launch.start(chosen, os.environ, prepare))
except LaunchError as exc:
    sys.exit(f"copilot: {exc}")
"""
WEB = """
import http.server, os, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()
    def log_message(self, *args):
        pass
pathlib.Path(sys.argv[1], "web.pid").write_text(str(os.getpid()))
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
WORKER = """
import json, os, pathlib, sys, time
root = pathlib.Path(sys.argv[1])
(root / "told.json").write_text(json.dumps(dict(os.environ)))
(root / "worker.pid").write_text(str(os.getpid()))
time.sleep(600)
"""
PREPARE = """
import os, pathlib
assert os.environ["DEMO_PASSWORD"]
path = pathlib.Path(os.environ["DATA_DIR"], "credentials")
path.write_text("demo pass-1\\nadmin pass-2\\n")
"""


class Launched:
    """A launcher with stand-in processes, and what it printed."""

    def __init__(self, root: Path, **environ: str) -> None:
        self.root = root
        (root / "web.py").write_text(WEB)
        (root / "worker.py").write_text(WORKER)
        if not (root / "Procfile").exists():
            (root / "Procfile").write_text(
                f"web: {sys.executable} {root}/web.py {root}\n"
                f"worker: {sys.executable} {root}/worker.py {root}\n"
            )
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        self.log = root / "printed"
        base = {"PATH": os.environ["PATH"], "PORT": str(self.port), "PREPARE": PREPARE}
        base |= {"DATA_DIR": str(root / "data"), "DEMO_PASSWORD": "pass-1"}
        with self.log.open("ab") as printed:
            self.process = subprocess.Popen(
                [sys.executable, "-c", LAUNCHER, str(root)],
                cwd=ROOT,
                env=base | environ,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    @property
    def printed(self) -> str:
        return self.log.read_text()

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def wait_until_ready(self) -> None:
        wait_until(
            lambda: (
                "Copilot is ready" in self.printed or self.process.poll() is not None
            ),
            "ready",
        )
        assert self.process.poll() is None, self.printed

    def pid(self, name: str) -> int:
        if name == "valkey":
            listed = subprocess.run(
                ["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True
            ).stdout
            rows = (line.split(None, 2) for line in listed.splitlines())
            return next(
                (
                    int(pid)
                    for pid, parent, command in rows
                    if int(parent) == self.process.pid and "valkey" in command
                ),
                0,
            )
        try:
            return int((self.root / f"{name}.pid").read_text() or 0)
        except FileNotFoundError:
            return 0

    def pids(self) -> list[int]:
        return [self.pid(name) for name in ("web", "worker", "valkey")]

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(15)


Launch = Callable[..., Launched]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    started: list[Launched] = []

    def start(**environ: str) -> Launched:
        started.append(Launched(tmp_path, **environ))
        return started[-1]

    yield start
    for launched in started:
        if not launched.has_ended:
            launched.process.kill()
            launched.process.wait()


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_box_shows_address_and_logins_when_all_is_up(launch: Launch) -> None:
    launched = launch()

    launched.wait_until_ready()

    assert f"http://127.0.0.1:{launched.port}/" in launched.printed
    assert "login demo     password pass-1" in launched.printed
    told = json.loads((launched.root / "told.json").read_text())
    assert told["REDIS_URL"] == f"unix://{launched.root}/data/run/valkey.sock"
    assert told["DEMOLAB_URL"].startswith("http://127.0.0.1:")
    assert told["SECRET_KEY_FILE"] == f"{launched.root}/data/secret_key"
    assert "DEMO_PASSWORD" not in told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_every_process_in_time(
    launch: Launch, number: signal.Signals
) -> None:
    launched = launch()
    launched.wait_until_ready()
    pids = launched.pids()
    began = time.monotonic()

    assert launched.end(number) == 0

    assert time.monotonic() - began < 60
    assert all(pids)
    assert all(is_gone(pid) for pid in pids)


def test_signal_that_arrives_twice_at_once_still_means_in_order(
    launch: Launch,
) -> None:
    launched = launch()
    launched.wait_until_ready()

    launched.process.send_signal(signal.SIGTERM)

    assert launched.end(signal.SIGTERM) == 0
    assert "killed by signal 9" not in launched.printed


def test_part_that_is_missing_is_named_as_healthz_does(
    launch: Launch, tmp_path: Path
) -> None:
    (tmp_path / "ill.py").write_text(
        WEB.replace("200", "503").replace(
            "self.end_headers()",
            "self.end_headers(); self.wfile.write(b'worker: none is running')",
        )
    )
    (tmp_path / "Procfile").write_text(
        f"web: {sys.executable} {tmp_path}/ill.py {tmp_path}\n"
    )

    launched = launch(READY_SECONDS="1")

    assert launched.process.wait(20) == 1
    assert "(/healthz: worker: none is running)" in launched.printed


def test_later_second_signal_ends_a_deaf_process_at_once(
    launch: Launch, tmp_path: Path
) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(
        "import pathlib, signal, time\n"
        "wish = pathlib.Path(__file__).with_name('wish')\n"
        "signal.signal(signal.SIGTERM, lambda *args: wish.touch())\n"
        "while True: time.sleep(1)\n"
    )
    (tmp_path / "Procfile").write_text(
        f"web: {sys.executable} {tmp_path}/web.py {tmp_path}\n"
        f"worker: {sys.executable} {deaf}\n"
    )
    launched = launch()
    launched.wait_until_ready()
    launched.process.send_signal(signal.SIGINT)
    began = time.monotonic()

    def ended() -> bool:
        launched.process.send_signal(signal.SIGINT)
        return launched.has_ended

    wait_until(ended, "the end")

    assert time.monotonic() - began < 30
    assert (tmp_path / "wish").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG")
def test_kill_9_of_the_launcher_leaves_no_process_and_no_lock(launch: Launch) -> None:
    launched = launch()
    launched.wait_until_ready()
    pids = launched.pids()

    launched.end(signal.SIGKILL)

    wait_until(lambda: all(is_gone(pid) for pid in pids), "all gone")
    (launched.root / "printed").unlink()
    launch().wait_until_ready()


@pytest.mark.parametrize("name", ["web", "worker", "valkey"])
def test_kill_9_of_any_process_heals(launch: Launch, name: str) -> None:
    launched = launch()
    launched.wait_until_ready()
    old = launched.pid(name)

    os.kill(old, signal.SIGKILL)

    wait_until(lambda: launched.pid(name) not in (0, old), f"a new {name}")
    assert not launched.has_ended


def test_second_launcher_on_the_same_folder_says_so(launch: Launch) -> None:
    launched = launch()
    launched.wait_until_ready()

    second = launch()

    assert second.process.wait(20) == 1
    assert "Copilot already runs on" in second.printed


def test_failed_preparation_ends_it_with_the_reason(launch: Launch) -> None:
    launched = launch(PREPARE="raise SystemExit('made by a newer version')")

    assert launched.process.wait(20) == 1
    assert "made by a newer version" in launched.printed
    assert is_gone(launched.pid("web"))


def test_process_that_ends_again_and_again_is_named(
    launch: Launch, tmp_path: Path
) -> None:
    (tmp_path / "Procfile").write_text(
        f"web: {sys.executable} {tmp_path}/web.py {tmp_path}\n"
        f"worker: {sys.executable} -c \"raise SystemExit('no broker')\"\n"
    )

    launched = launch(SETTLED_SECONDS="2")

    assert launched.process.wait(20) == 1
    assert "worker ends again and again" in launched.printed
    assert "no broker" in launched.printed


def test_process_that_stays_silent_is_named_in_the_end(
    launch: Launch, tmp_path: Path
) -> None:
    (tmp_path / "Procfile").write_text(
        f"web: {sys.executable} {tmp_path}/worker.py {tmp_path}\n"
    )

    launched = launch(READY_SECONDS="1")

    assert launched.process.wait(20) == 1
    assert "web is not up after 1 s" in launched.printed
