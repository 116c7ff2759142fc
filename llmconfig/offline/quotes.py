"""A line that a device printed, and what it was printed for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quote:
    device: str
    command: str
    line: str
