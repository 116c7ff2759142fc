from pathlib import Path

import pytest

from scripts.launcher.config import (
    Config,
    children_environ,
    without_first_passwords,
)
from scripts.launcher.errors import LaunchError

ROOT = Path("/srv/copilot")


def test_nothing_set_means_this_machine_only() -> None:
    config = Config.from_environ({"PORT": "", "HOST": ""}, ROOT)

    assert config.address == "http://127.0.0.1:8000"
    assert config.data_dir == ROOT / "data"
    assert config.has_lab


def test_own_gns3_server_leaves_the_simulated_lab_out() -> None:
    assert not Config.from_environ({"GNS3_URL": "http://lab:3080"}, ROOT).has_lab
    assert not Config.from_environ({"DEMO_LAB": "0"}, ROOT).has_lab


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8000.0"])
def test_impossible_port_is_named(port: str) -> None:
    with pytest.raises(LaunchError, match=f"PORT={port}"):
        Config.from_environ({"PORT": port}, ROOT)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("10.1.1.1", "http://10.1.1.1:8000"),
    ],
)
def test_address_is_one_that_a_browser_can_open(host: str, address: str) -> None:
    assert Config.from_environ({"HOST": host}, ROOT).address == address


def test_children_get_addresses_and_secrets_in_their_environment() -> None:
    environ = {"PATH": "/bin", "LLM_API_KEY": "k", "GNS3_URL": "", "DEMO_PASSWORD": "p"}
    config = Config.from_environ(environ, ROOT)

    told = children_environ(
        config,
        environ,
        redis_url="unix:///run/valkey.sock",
        lab_port=20001,
        lab_password="secret",
        executables=Path("/venv/bin"),
    )

    assert told["PATH"] == "/venv/bin:/bin"
    assert told["REDIS_URL"] == "unix:///run/valkey.sock"
    assert told["DEMOLAB_URL"] == "http://127.0.0.1:20001"
    assert told["DEMOLAB_PASSWORD"] == "secret"
    assert told["LLM_API_KEY"] == "k"
    assert "GNS3_URL" not in told
    assert "DEMO_PASSWORD" not in without_first_passwords(told)
