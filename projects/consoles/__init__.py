"""Runs commands on device consoles over telnet, plain Python."""

from projects.consoles.dialects import DEVICE_TYPES, dialect_for, target_for
from projects.consoles.driver import run_commands
from projects.consoles.effect import Effect
from projects.consoles.errors import (
    ConsoleBooting,
    ConsoleBusy,
    ConsoleClosed,
    ConsoleError,
    ConsoleLoginNeeded,
    ConsoleRefused,
    ConsoleSilent,
    ConsoleTimeout,
    ConsoleUnsupported,
)
from projects.consoles.locks import in_process_lock
from projects.consoles.policy import classify, split_lines
from projects.consoles.types import CommandResult, ConsoleTarget

__all__ = [
    "DEVICE_TYPES",
    "CommandResult",
    "ConsoleBooting",
    "ConsoleBusy",
    "ConsoleClosed",
    "ConsoleError",
    "ConsoleLoginNeeded",
    "ConsoleRefused",
    "ConsoleSilent",
    "ConsoleTarget",
    "ConsoleTimeout",
    "ConsoleUnsupported",
    "Effect",
    "classify",
    "dialect_for",
    "in_process_lock",
    "run_commands",
    "split_lines",
    "target_for",
]
