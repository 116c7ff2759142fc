"""Starts a real GNS3 server with real VPCS nodes, for tests.

`python -m tests.gns3_lab.rig` installs the server, without which the tests are skipped.
"""

import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GNS3_VERSION = "3.0.6"
VPCS = Path("/usr/bin/vpcs")
USERNAME = "admin"
PASSWORD = "lab-admin-password"
START_LIMIT = 120.0
STOP_LIMIT = 20.0
HERE = Path(__file__).parent

CONFIG = """\
[Server]
host = 127.0.0.1
port = {port}
secrets_dir = {root}/secrets
images_path = {root}/images
projects_path = {root}/projects
appliances_path = {root}/appliances
symbols_path = {root}/symbols
configs_path = {root}/configs
resources_path = {root}/resources
report_errors = False
allowed_interfaces = lo
compute_username = gns3
compute_password = compute-password
ubridge_path = {root}/bin/ubridge
console_start_port_range = {console}
console_end_port_range = {console_end}
udp_start_port_range = {udp}
udp_end_port_range = {udp_end}

[VPCS]
vpcs_path = {root}/bin/vpcs

[Controller]
default_admin_username = {username}
default_admin_password = {password}
"""


class RigError(Exception):
    """The GNS3 server for tests could not be installed or started."""


@dataclass(frozen=True)
class Gns3Server:
    url: str
    username: str
    password: str


def cache_directory() -> Path:
    """Where the server's own virtualenv is kept between test runs."""
    default = Path(tempfile.gettempdir()) / f"gns3-lab-cache-{os.getuid()}"
    return Path(os.environ.get("GNS3_LAB_CACHE", default))


def is_installed() -> bool:
    return gns3server_path().exists()


def gns3server_path() -> Path:
    return cache_directory() / f"venv-{GNS3_VERSION}" / "bin" / "gns3server"


def install() -> Path:
    """Install gns3-server into its own virtualenv, once for all test processes."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed():
            venv = gns3server_path().parent.parent
            shutil.rmtree(venv, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(venv))
            package = f"gns3-server=={GNS3_VERSION}"
            _run(str(venv / "bin" / "pip"), "install", "--quiet", package)
    return gns3server_path()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RigError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")


@contextlib.contextmanager
def running_gns3_server() -> Iterator[Gns3Server]:
    """A GNS3 server that answers and has its compute connected."""
    program = install()
    with tempfile.TemporaryDirectory(prefix="gns3-lab-") as directory:
        root = Path(directory)
        server = _prepare(root)
        log = (root / "server.log").open("wb")
        process = subprocess.Popen(
            [program, "--config", root / "gns3_server.conf"],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HOME": str(root), "PATH": _path(root)},
        )
        try:
            _wait_until_ready(server, process, root / "server.log")
            yield server
        finally:
            _stop(process)
            log.close()


def _path(root: Path) -> str:
    return f"{root / 'bin'}:{os.environ['PATH']}"


def _prepare(root: Path) -> Gns3Server:
    names = "secrets images projects appliances symbols configs resources bin"
    for name in names.split():
        (root / name).mkdir()
    for source, name in (
        ("stand_in_ubridge.py", "ubridge"),
        ("vpcs_wrapper.py", "vpcs"),
    ):
        shutil.copy(HERE / source, root / "bin" / name)
        (root / "bin" / name).chmod(0o755)
    port = _free_port()
    # Test processes may each run a server: ranges of their own, or they race for ports.
    slot = random.randrange(40)
    text = CONFIG.format(
        root=root,
        port=port,
        console=5000 + slot * 100,
        console_end=5099 + slot * 100,
        udp=10000 + slot * 500,
        udp_end=10499 + slot * 500,
        username=USERNAME,
        password=PASSWORD,
    )
    (root / "gns3_server.conf").write_text(text)
    return Gns3Server(f"http://127.0.0.1:{port}", USERNAME, PASSWORD)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_until_ready(
    server: Gns3Server, process: subprocess.Popen[bytes], log: Path
) -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RigError(f"gns3server ended:\n{_tail(log)}")
        if _is_compute_ready(server):
            return
        time.sleep(0.25)
    raise RigError(f"gns3server is not ready after {START_LIMIT} s:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]


def _is_compute_ready(server: Gns3Server) -> bool:
    """Only a node that can be created proves that the compute is connected."""
    credentials = {"username": server.username, "password": server.password}
    try:
        login = _call(server, "POST", "/v3/access/users/authenticate", credentials)
        token = str(login["access_token"])
        project = _call(server, "POST", "/v3/projects", {"name": "readiness"}, token)
        path = f"/v3/projects/{project['project_id']}"
        node = {"name": "PC1", "node_type": "vpcs", "compute_id": "local"}
        try:
            _call(server, "POST", f"{path}/nodes", node, token)
        finally:
            _call(server, "DELETE", path, None, token)
    except OSError:
        return False
    return True


def _call(
    server: Gns3Server,
    method: str,
    path: str,
    body: dict[str, str] | None,
    token: str = "",
) -> dict[str, object]:
    request = urllib.request.Request(
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=10) as answer:
        raw = answer.read()
    loaded: dict[str, object] = json.loads(raw) if raw else {}
    return loaded


def _stop(process: subprocess.Popen[bytes]) -> None:
    # SIGTERM lets the server stop its nodes; they are its children, not ours.
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    print(install())
