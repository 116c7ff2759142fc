"""Reads Procfile, the one list of processes, also used in production."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from scripts.launcher.errors import LaunchError

VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})")


def read(path: Path) -> dict[str, str]:
    """Process names and their command lines, in the file's order."""
    lines = (line.strip() for line in path.read_text().splitlines())
    pairs = (line.split(":", 1) for line in lines if line and line[0] != "#")
    return {name.strip(): command.strip() for name, command in pairs}


def arguments(command: str, environ: Mapping[str, str]) -> list[str]:
    """Words of a command with $NAME, ${NAME} and ${NAME:-default} put in."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        text = environ.get(name) or found[3]
        if text is None:
            raise LaunchError(f"Procfile needs {name}, which is not set.")
        return text

    # Split first: a value with spaces stays one word.
    return [VARIABLE.sub(value, word) for word in shlex.split(command)]
