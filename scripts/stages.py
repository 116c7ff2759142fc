"""Runs commands as named steps, with the time of each."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a person set for the server must not reach its tests.
SETTINGS = ROOT / "copilot_site" / "settings.py"
OTHER_SETTINGS = ("ADMIN_PASSWORD", "DEMO_PASSWORD", "DEMOLAB_PORT", "DEMOLAB_STATE")


@dataclass(frozen=True)
class Result:
    name: str
    code: int
    seconds: float

    def __str__(self) -> str:
        word = "ok" if self.code == 0 else f"FAILED ({self.code})"
        return f"{self.name:<12}{self.seconds:8.1f} s  {word}"


def clean_environ(environ: Mapping[str, str], data_dir: str) -> dict[str, str]:
    """The environment without server settings, and with a data folder of its own."""
    named = {
        *re.findall(r'env\.\w+\(\s*"(\w+)"', SETTINGS.read_text()),
        *OTHER_SETTINGS,
    }
    kept = {name: value for name, value in environ.items() if name not in named}
    return kept | {"DATA_DIR": data_dir}


def run(
    name: str,
    commands: Sequence[Sequence[str]],
    *,
    extra: Mapping[str, str] | None = None,
    good_codes: Sequence[int] = (0,),
    is_captured: bool = False,
) -> Result:
    """Run all commands with this Python; the code is the first bad one."""
    started, bad = time.monotonic(), 0
    # Short and outside the tree: sockets are put there, and linters must not see it.
    with tempfile.TemporaryDirectory(prefix="copilot-") as data_dir:
        environ = clean_environ(os.environ, data_dir) | dict(extra or {})
        for command in commands:
            done = subprocess.run(
                [sys.executable, *command],
                cwd=ROOT,
                env=environ,
                stdout=subprocess.PIPE if is_captured else None,
                stderr=subprocess.STDOUT if is_captured else None,
                text=True,
                check=False,
            )
            if done.returncode not in good_codes:
                bad = bad or done.returncode
                print(done.stdout or "", end="", flush=True)
    return Result(name, bad, time.monotonic() - started)


def summarise(results: Sequence[Result]) -> int:
    """Print the table; the exit code is that of the first failure."""
    print("\n" + "\n".join(map(str, results)), flush=True)
    return next((result.code for result in results if result.code), 0)
