from pathlib import Path

import pytest

from scripts.launcher import output
from scripts.launcher.output import Output


def test_lines_carry_the_name_and_reach_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Output("web", tmp_path)

    out.feed(b"first\nsec")
    out.feed("ond \u00fc\nrest".encode())
    out.close()

    assert capsys.readouterr().out.splitlines() == [
        "web    | first",
        "web    | second \u00fc",
        "web    | rest",
    ]
    assert (tmp_path / "web.log").read_text().count("\n") == 3
    assert list(out.last_lines) == ["first", "second \u00fc", "rest"]


def test_quiet_process_is_only_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Output("valkey", tmp_path, is_shown=False)

    out.feed(b"line\n")

    assert capsys.readouterr().out == ""
    assert list(out.last_lines) == ["line"]


def test_control_characters_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Output("lab", tmp_path).feed(b"\x1b[2Jboo\x07\xff\r\n")

    assert capsys.readouterr().out == "lab    | [2Jboo\ufffd\n"


def test_long_line_is_cut_on_the_terminal_and_whole_in_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Output("web", tmp_path).feed(b"x" * 1000 + b"\n")

    assert len(capsys.readouterr().out) < 300
    assert "x" * 1000 in (tmp_path / "web.log").read_text()


def test_endless_line_does_not_grow(tmp_path: Path) -> None:
    out = Output("web", tmp_path, is_shown=False)

    out.feed(b"x" * (output.LINE_BYTES + 1))

    assert len(out.last_lines) == 1


def test_log_files_are_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LOG_BYTES", 1000)
    out = Output("web", tmp_path, is_shown=False)

    for _ in range(100):
        out.feed(b"x" * 100 + b"\n")

    assert len(list(tmp_path.iterdir())) == output.LOG_FILES
