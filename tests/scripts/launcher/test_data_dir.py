import subprocess
import sys
from pathlib import Path

import pytest

from scripts.install import ROOT
from scripts.launcher import data_dir
from scripts.launcher.errors import LaunchError


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folder_and_password_are_private_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "data"

    data_dir.prepare(folder)
    password = data_dir.lab_password(folder)

    assert mode(folder) == 0o700
    assert mode(folder / "demolab_credentials") == 0o600
    assert len(password) >= 24
    assert data_dir.lab_password(folder) == password


def test_open_folder_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    data_dir.prepare(tmp_path)

    assert mode(tmp_path) == 0o700


def test_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    with pytest.raises(LaunchError, match="DATA_DIR .* can't be used"):
        data_dir.prepare(tmp_path / "data")


def test_second_launcher_is_told_of_the_first(tmp_path: Path) -> None:
    second = (
        "import pathlib, sys\n"
        "from scripts.launcher import data_dir\n"
        "with data_dir.lock(pathlib.Path(sys.argv[1])): pass"
    )

    with data_dir.lock(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", second, str(tmp_path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )

    assert "Copilot already runs" in done.stderr
    with data_dir.lock(tmp_path):
        pass


def test_database_without_its_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "copilot.sqlite3").touch()

    with pytest.raises(LaunchError, match="Put the key back"):
        data_dir.check_keys(tmp_path, {})

    data_dir.check_keys(tmp_path, {"ENCRYPTION_KEYS": "key"})
    (tmp_path / "encryption_key").touch()
    data_dir.check_keys(tmp_path, {})


def test_logins_are_read_for_the_box(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("demo a=b: c\nadmin d\n\n")

    assert data_dir.logins(tmp_path) == [("demo", "a=b: c"), ("admin", "d")]
    assert data_dir.logins(tmp_path / "none") == []
