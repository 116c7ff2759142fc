import os
from pathlib import Path

import pytest

from scripts.install import ROOT
from scripts.launcher import procfile
from scripts.launcher.errors import LaunchError


def test_processes_are_read_in_order_without_comments(tmp_path: Path) -> None:
    path = tmp_path / "Procfile"
    path.write_text("# list\nweb: serve -p $PORT\n\nworker: work a:b\n")

    assert list(procfile.read(path).items()) == [
        ("web", "serve -p $PORT"),
        ("worker", "work a:b"),
    ]


def test_value_with_spaces_stays_one_word() -> None:
    words = procfile.arguments("run --state $STATE", {"STATE": "/my labs/$x"})

    assert words == ["run", "--state", "/my labs/$x"]


def test_default_stands_in_for_what_is_not_set() -> None:
    words = procfile.arguments("run ${A:-1} ${B:-2} ${C:-}x", {"A": "9"})

    assert words == ["run", "9", "2", "x"]


def test_missing_variable_is_named() -> None:
    with pytest.raises(LaunchError, match="DEMOLAB_PORT"):
        procfile.arguments("lab --port $DEMOLAB_PORT", {})


def test_our_own_list_has_the_three_processes_and_no_secret() -> None:
    processes = procfile.read(ROOT / "Procfile")

    assert list(processes) == ["web", "worker", "lab"]
    assert not any(
        word in command
        for command in processes.values()
        for word in ("PASSWORD", "KEY", "DATABASE_URL", "REDIS_URL")
    )
    assert os.access(ROOT / "manage.py", os.R_OK)
