import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import install
from scripts.install import InstallError, ensure_environment, explain


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that needs nothing, so that pip asks no index."""
    for name in install.FILES:
        (tmp_path / name).write_text("# nothing\n")
    return tmp_path


@pytest.fixture(autouse=True)
def without_pip(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Records pip's calls; making the environment stays real."""
    calls: list[list[str]] = []
    real = install.run_with_progress

    def run(
        command: list[str], title: str, cwd: Path | None = None
    ) -> tuple[int, list[str]]:
        if "pip" not in command:
            return real([*command, "--without-pip"], title, cwd)
        calls.append(command)
        return 0, ["Collecting nothing"]

    monkeypatch.setattr(install, "run_with_progress", run)
    return calls


def make_pip_script(root: Path) -> None:
    (root / ".venv/bin/pip").write_text(f"#!{root}/.venv/bin/python\n")


def test_environment_is_made_and_filled_once(
    root: Path, without_pip: list[list[str]]
) -> None:
    python = ensure_environment(root, "run")
    make_pip_script(root)

    assert ensure_environment(root, "run") == python
    assert subprocess.run([python, "-c", ""], check=True)
    assert len(without_pip) == 1
    assert "requirements.txt" in without_pip[0]


def test_changed_requirements_are_installed_again(
    root: Path, without_pip: list[list[str]]
) -> None:
    ensure_environment(root, "run")
    make_pip_script(root)
    (root / "constraints.txt").write_text("# other\n")

    ensure_environment(root, "run")

    assert len(without_pip) == 2


def test_renamed_folder_gets_a_new_environment(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ensure_environment(root, "run")
    make_pip_script(root)
    moved = tmp_path_factory.mktemp("elsewhere") / "project"
    root.rename(moved)

    python = ensure_environment(moved, "run")

    assert python == moved / ".venv/bin/python"
    assert not (moved / ".venv/bin/pip").exists()


def test_python_without_ensurepip_gets_the_name_of_the_package(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(InstallError, match="apt install python3"):
        ensure_environment(root, "run")


def test_full_disk_is_said_before_anything_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(install.NEEDED_BYTES, "run", 1 << 60)

    with pytest.raises(InstallError, match="MB left"):
        ensure_environment(root, "run")

    assert not (root / ".venv").exists()


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        (
            "WARNING: Retrying (Retry(total=1)) after connection broken\n"
            "ERROR: No matching distribution found for Django==5.2.19",
            "index can't be reached",
        ),
        ("ERROR: No matching distribution found for uvloop==0.23.0", "no uvloop"),
        ("error: something new", "something new"),
    ],
)
def test_failure_of_pip_is_one_clear_line(output: str, line: str) -> None:
    assert line in explain(output.splitlines())


def test_slow_step_shows_its_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(install, "PROGRESS_SECONDS", 0.1)
    slow = "import time; print('Collecting x (1 kB)', flush=True); time.sleep(0.5)"

    code, lines = install.run_with_progress([sys.executable, "-c", slow], "Working")

    assert code == 0
    assert lines == ["Collecting x (1 kB)"]
    assert "s  Collecting x\n" in capsys.readouterr().out


def test_long_list_of_packages_is_counted() -> None:
    lines = ["Collecting b", "Installing collected packages: a, b, c"]

    assert install.step(lines) == "Installing 3 packages"
    assert install.step([]) == "working"


def test_old_python_is_refused_in_words_it_can_parse() -> None:
    source = (install.ROOT / "scripts/bootstrap.py").read_text()
    old = "import sys; sys.version_info = (3, 9, 0); exec(sys.stdin.read())"

    done = subprocess.run(
        [sys.executable, "-c", old], input=source, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "f'" not in source
    assert 'f"' not in source


def test_arguments_are_handed_to_the_environments_python(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[list[str]] = []
    monkeypatch.setattr(install, "ROOT", root)
    monkeypatch.setattr(os, "execv", lambda path, argv: replaced.append(argv))

    install.main(["--dev", "-m", "scripts.test"])

    assert replaced == [[str(root / ".venv/bin/python"), "-m", "scripts.test"]]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_pin_is_exact_constrained_and_explained(name: str) -> None:
    lines = (install.ROOT / name).read_text().splitlines()
    pins = [line.split(" ;")[0].strip() for line in lines if line[:1] not in "#-"]
    constraints = (install.ROOT / "constraints.txt").read_text().splitlines()
    explained = (install.ROOT / "docs/dependencies.md").read_text()

    for pin in pins:
        package, _, version = pin.partition("==")
        assert version
        assert f"{package.partition('[')[0]}=={version}" in constraints
        assert f"| {package} | {version} |" in explained
