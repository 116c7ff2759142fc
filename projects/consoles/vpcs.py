"""The command line of VPCS, measured on 0.5b2 behind GNS3's console server.

The marker is an `echo`: keys typed while a command runs are echoed at once, so only
the printed answer proves that the command line is free. It adds a line to the PC's
command history and changes nothing else. Ctrl-U and Ctrl-K do nothing there, Ctrl-C
would stop another person's ping: a half-typed line is taken away by backspaces, which
an empty line and a running command ignore.
"""

import re
from collections.abc import Iterable, Sequence

PROMPT = re.compile(r"[^\s>]+> ?")
ERRORS = ("Bad command", "Invalid", "Incomplete", "Can't ", "Cannot ")
LINE_WIDTH = 120


class Vpcs:
    name = "vpcs"
    erase = "\b" * LINE_WIDTH
    interrupt = "\x03"

    def keys(self, command: str) -> str:
        return f"{command}\r"

    def marker_command(self, marker: str) -> str:
        return f"echo {marker}"

    def has_marker(self, lines: Iterable[str], marker: str) -> bool:
        # A VPCS without `echo` says so, and names the marker.
        return any(
            line.strip() == marker or (marker in line and "Bad command" in line)
            for line in lines
        )

    def is_prompt(self, tail: str) -> bool:
        return PROMPT.fullmatch(tail) is not None

    def starts_with_prompt(self, prompt: str, line: str) -> bool:
        return line.startswith(prompt.rstrip())

    def is_question(self, tail: str) -> bool:
        return False

    def answer(self, tail: str) -> str | None:
        return None

    def greeting_answer(self, tail: str) -> str | None:
        return None

    def is_noise(self, line: str) -> bool:
        return False

    def is_booting(self, lines: Sequence[str]) -> bool:
        return False

    def preparation(self, prompt: str) -> Sequence[str]:
        return ()

    def farewell(self, prompt: str) -> Sequence[str]:
        return ()

    def error_in(self, lines: Sequence[str]) -> str:
        said = (line.strip() for line in lines)
        return next((line for line in said if line.startswith(ERRORS)), "")
