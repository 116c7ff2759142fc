"""`manage.py demolab` as a person runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MANAGE = [sys.executable, str(ROOT / "manage.py"), "demolab"]


def environment(
    url: str = "http://127.0.0.1:1", password: str = "s3cret"
) -> dict[str, str]:
    return os.environ | {
        "DEMOLAB_URL": url,
        "DEMOLAB_USERNAME": "demo",
        "DEMOLAB_PASSWORD": password,
    }


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *arguments],
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A serving process and its address, read from the ready line."""
    process = subprocess.Popen(
        [*MANAGE, "--serve", "--port", "0", *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"Simulated lab ready at (http://\S+)\n", line)
    assert found, line
    return process, found.group(1)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    process, address = start()
    yield address
    process.terminate()
    process.communicate(timeout=20)


def test_question_is_shown_but_not_the_answer(url: str) -> None:
    result = run(url=url)

    assert result.returncode == 0
    assert "Ask: Why can't PC1 reach PC2?" in result.stdout
    assert "missing_return_route" not in result.stdout


def test_planting_then_reset(url: str) -> None:
    planted = run("--fault", "wrong_mask", "--seed", "5", "--reveal", url=url)
    reset = run("--reset", "--reveal", url=url)

    assert "Fault: wrong_mask on " in planted.stdout
    assert "(seed 5)" in planted.stdout
    assert "Fault: missing_return_route on R2" in reset.stdout


def test_wrong_password_and_unknown_fault_are_said(url: str) -> None:
    refused = run(url=url, password="other")
    unknown = run("--fault", "nonsense", url=url)

    assert (refused.returncode, unknown.returncode) == (1, 1)
    assert "refused the login" in refused.stderr
    assert "There is no fault named nonsense." in unknown.stderr


def test_taken_port_is_one_line_and_exit_code_2(url: str) -> None:
    result = run("--serve", "--port", url.rpartition(":")[2])

    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "already in use" in result.stderr


def test_lab_that_does_not_run_is_said() -> None:
    result = run()

    assert result.returncode == 1
    assert "No simulated lab runs at http://127.0.0.1:1." in result.stderr
    assert "Traceback" not in result.stderr


def test_list_has_one_line_a_fault() -> None:
    lines = run("--list").stdout.splitlines()

    assert len(lines) >= 12
    assert any(line.startswith("acl_blocks ") for line in lines)


def test_open_address_needs_a_password() -> None:
    result = run("--serve", "--host", "0.0.0.0", "--port", "0", password="")

    assert result.returncode == 1
    assert "DEMOLAB_PASSWORD" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    process, _ = start("--state", str(tmp_path / "lab.json"))

    process.send_signal(number)
    _, errors = process.communicate(timeout=20)

    assert process.returncode == 0
    assert errors == ""
    assert (tmp_path / "lab.json").exists()
