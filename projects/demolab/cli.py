"""What the command line of a simulated device offers to the terminal before it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Wait:
    """Takes as long as this many ping packets."""

    packets: float = 1.0


@dataclass(frozen=True)
class Ask:
    """Shows a question; the line typed in reply is sent into the generator."""

    question: str


@dataclass(frozen=True)
class Paged:
    """Text that stops after each screen unless paging is switched off."""

    text: str


Step = str | Wait | Ask | Paged
Steps = Generator[Step, str, None]


class Cli(Protocol):
    """One console session of a device; lines end in a bare newline."""

    page_length: int
    # Devices with instant help answer a question mark before Return is pressed.
    has_instant_help: bool

    def banner(self) -> str: ...

    def prompt(self) -> str: ...

    def run(self, line: str) -> Steps: ...

    def help(self, line: str) -> str: ...

    def leave(self, key: str) -> None:
        """Ctrl-C or Ctrl-Z was pressed while no command was running."""
