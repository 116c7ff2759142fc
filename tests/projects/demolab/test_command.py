"""`manage.py demolab` as a person runs it."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[3]
MANAGE = [sys.executable, str(ROOT / "manage.py"), "demolab"]


ENVIRONMENT = {"DEMOLAB_USERNAME": "demo", "DEMOLAB_PASSWORD": "s3cret"}
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def run(*arguments: str, url: str = NOWHERE) -> str:
    """What the command prints; raises CommandError."""
    output = io.StringIO()
    call_command("demolab", *arguments, "--url", url, stdout=output)
    return output.getvalue()


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A serving process and its address, read from the ready line."""
    process = subprocess.Popen(
        [*MANAGE, "--serve", "--port", "0", *arguments],
        env=os.environ | ENVIRONMENT,
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
    text = run(url=url)

    assert "Ask: Why can't PC1 reach PC2?" in text
    assert "missing_return_route" not in text


def test_planting_then_reset(url: str) -> None:
    planted = run("--fault", "wrong_mask", "--seed", "5", "--reveal", url=url)
    reset = run("--reset", "--reveal", url=url)

    assert "Fault: wrong_mask on " in planted
    assert "(seed 5)" in planted
    assert "Fault: missing_return_route on R2" in reset


def test_unknown_fault_is_said(url: str) -> None:
    with pytest.raises(CommandError, match=r"There is no fault named nonsense\."):
        run("--fault", "nonsense", url=url)


def test_wrong_password_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMOLAB_PASSWORD", "other")

    with pytest.raises(CommandError, match="refused the login"):
        run(url=url)


def test_lab_that_does_not_run_is_said() -> None:
    with pytest.raises(
        CommandError, match="No simulated lab runs at http://127.0.0.1:1"
    ):
        run()


def test_list_has_one_line_a_fault() -> None:
    lines = run("--list").splitlines()

    assert len(lines) >= 12
    assert any(line.startswith("acl_blocks ") for line in lines)


def test_open_address_needs_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMOLAB_PASSWORD", "")

    with pytest.raises(CommandError, match="DEMOLAB_PASSWORD"):
        run("--serve", "--host", "0.0.0.0", "--port", "0")


def test_taken_port_is_one_line_and_exit_code_2(url: str) -> None:
    result = subprocess.run(
        [*MANAGE, "--serve", "--port", url.rpartition(":")[2]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "already in use" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    process, _ = start("--state", str(tmp_path / "lab.json"))

    process.send_signal(number)
    _, errors = process.communicate(timeout=20)

    assert process.returncode == 0
    assert errors == ""
    assert (tmp_path / "lab.json").exists()
