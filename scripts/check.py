"""make check: style, types, import rules, migrations, Django's own checks."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import stages

SCRIPTS = Path(sys.executable).parent
LINT_IMPORTS = str(SCRIPTS / "lint-imports")
STEPS = {
    "mypy": ["-m", "mypy", "--strict", "."],
    "style": ["-m", "ruff", "check", "."],
    "format": ["-m", "ruff", "format", "--check", "."],
    "imports": [LINT_IMPORTS],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "django": ["manage.py", "check", "--fail-level", "WARNING"],
}


def check() -> list[stages.Result]:
    """Two at a time: the type check takes as long as all the others."""
    with ThreadPoolExecutor(2) as pool:
        return list(
            pool.map(
                lambda step: stages.run(step[0], [step[1]], is_captured=True),
                STEPS.items(),
            )
        )


if __name__ == "__main__":
    sys.exit(stages.summarise(check()))
