import os
from pathlib import Path

import pytest

from scripts import stages, test


def test_first_failure_decides_but_every_command_runs(
    capfd: pytest.CaptureFixture[str],
) -> None:
    result = stages.run(
        "demo",
        [
            ["-c", "print('one')"],
            ["-c", "raise SystemExit(3)"],
            ["-c", "print('three'); raise SystemExit(4)"],
        ],
    )

    assert result.code == 3
    assert "three" in capfd.readouterr().out
    assert stages.summarise([stages.Result("a", 0, 1.0), result]) == 3


def test_output_of_a_check_is_shown_only_when_it_fails(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stages.run("good", [["-c", "print('quiet')"]], is_captured=True)
    stages.run("bad", [["-c", "print('loud'); exit(1)"]], is_captured=True)

    out = capfd.readouterr().out
    assert "quiet" not in out
    assert "loud" in out


def test_server_settings_do_not_reach_the_tests() -> None:
    environ = {
        "DATABASE_URL": "x",
        "GNS3_URL": "x",
        "LLM_API_KEY": "x",
        "DATA_DIR": "data",
        "REQUIRE": "valkey",
    }

    cleaned = stages.clean_environ(environ, "/tmp/mine")

    assert cleaned == {"REQUIRE": "valkey", "DATA_DIR": "/tmp/mine"}


def test_each_run_has_a_data_folder_that_is_removed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stages.run("demo", [["-c", "import os; print(os.environ['DATA_DIR'])"]])

    folder = capfd.readouterr().out.strip()
    assert folder
    assert not os.path.exists(folder)


def test_slow_tests_wait_for_test_all() -> None:
    normal = test.pytest(Path("r.xml"), ["faults"], False)
    everything = test.pytest(Path("r.xml"), ["faults"], True)

    assert "(faults) and not slow" in normal
    assert "faults" in everything


def test_totals_add_up_the_reports(tmp_path: Path) -> None:
    suite = '<testsuite tests="{}" failures="{}" errors="0" skipped="{}"/>'
    for number, counts in enumerate([(5, 1, 1), (3, 0, 0)]):
        text = f"<testsuites>{suite.format(*counts)}</testsuites>"
        (tmp_path / f"{number}.xml").write_text(text)

    assert test.totals(tmp_path) == "total: 6 passed, 1 failed, 1 skipped"
