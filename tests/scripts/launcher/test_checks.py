import socket
from collections.abc import Iterator

import pytest

from scripts.launcher import checks
from scripts.launcher.errors import LaunchError


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_port_in_use_is_named_with_a_free_one(taken_port: int) -> None:
    with pytest.raises(LaunchError) as caught:
        checks.check_port("127.0.0.1", taken_port)

    assert f"Port {taken_port} on 127.0.0.1 is in use" in str(caught.value)
    checks.check_port("127.0.0.1", int(str(caught.value).rpartition("=")[2]))


def test_host_of_another_machine_is_refused() -> None:
    with pytest.raises(LaunchError, match=r"192\.0\.2\.1"):
        checks.check_port("192.0.2.1", 8000)


def test_host_that_is_no_name_is_refused() -> None:
    with pytest.raises(LaunchError, match="no address of this machine"):
        checks.check_port("no such host", 8000)


def test_lab_gets_a_port_that_is_free() -> None:
    port = checks.free_lab_port()

    checks.check_port("127.0.0.1", port)
    assert port in checks.LAB_PORTS


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@h/db",
        "nonsense",
        "postgres://u:secret@127.0.0.1:port/db",
        "postgres://u:secret@[::1/db",
    ],
)
def test_unreadable_database_address_is_one_line_without_secret(url: str) -> None:
    with pytest.raises(LaunchError, match="DATABASE_URL") as caught:
        checks.check_database(url)

    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreachable_database_is_one_line_without_secret() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(LaunchError, match="refused") as caught:
        checks.check_database(f"postgres://u:secret@127.0.0.1:{port}/db?sslmode=prefer")

    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sqlite_and_the_default_need_no_server() -> None:
    checks.check_database("")
    checks.check_database("sqlite:////tmp/x.sqlite3")


@pytest.mark.parametrize("url", ["redis://:secret@127.0.0.1:{port}/0", "http://x"])
def test_broken_redis_address_is_one_line_without_secret(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(LaunchError, match="REDIS_URL") as caught:
        checks.check_redis(url.format(port=port))

    assert "secret" not in str(caught.value)
