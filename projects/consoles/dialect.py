"""What a driver must know of a command line; each kind has a file of its own."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

PAGER = re.compile(r"(?i)<?-{2,3} ?\(?more(?: \d+%)?\)? ?-{2,3}>?(?: or \(q\)uit)?\s*$")
LOGIN = re.compile(r"(?i)\b(?:login|user ?name) ?: *$")
PASSWORD = re.compile(r"(?i)\bpassword(?: for [^:]+)? ?: *$")


class Dialect(Protocol):
    """`tail` is the line that has no end yet; `lines` are finished and clean."""

    name: str
    # Clears a half-typed line without running it: Return alone would run it.
    erase: str
    # Ends the running command.
    interrupt: str

    def keys(self, command: str) -> str:
        """What to type for a command, with the key that runs it."""
        ...

    def marker_command(self, marker: str) -> str:
        """A line that changes nothing on the device and comes back with the marker."""
        ...

    def has_marker(self, lines: Iterable[str], marker: str) -> bool:
        """The device has processed the marker command, not just echoed its keys."""
        ...

    def is_prompt(self, tail: str) -> bool: ...

    def starts_with_prompt(self, prompt: str, line: str) -> bool:
        """The line begins with the device's prompt, in whatever mode."""
        ...

    def is_question(self, tail: str) -> bool:
        """The running command waits for an answer."""
        ...

    def answer(self, tail: str) -> str | None:
        """The harmless answer to a question within a command, if there is one."""
        ...

    def greeting_answer(self, tail: str) -> str | None:
        """What to type to get past a greeting, before any command."""
        ...

    def is_noise(self, line: str) -> bool:
        """A message of the device that no command asked for."""
        ...

    def is_booting(self, lines: Sequence[str]) -> bool: ...

    def preparation(self, prompt: str) -> Sequence[str]:
        """Commands that make the session ready; they change no configuration."""
        ...

    def farewell(self, prompt: str) -> Sequence[str]:
        """Commands that leave the console as the next one expects it."""
        ...

    def error_in(self, lines: Sequence[str]) -> str:
        """The line in which the device says that the command is wrong."""
        ...
