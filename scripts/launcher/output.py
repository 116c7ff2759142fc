"""What a process prints: to the terminal with its name, to its log file, and kept."""

import re
import sys
from collections import deque
from logging import Formatter, LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

TERMINAL_WIDTH = 240
LINE_BYTES = 64 * 1024
LOG_BYTES = 5 * 1024 * 1024
LOG_FILES = 3
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Output:
    """One process's output, cut into lines."""

    def __init__(self, name: str, folder: Path, *, is_shown: bool = True) -> None:
        self.last_lines: deque[str] = deque(maxlen=15)
        self._name = name
        self._is_shown = is_shown
        self._rest = b""
        self._log = RotatingFileHandler(
            folder / f"{name}.log",
            maxBytes=LOG_BYTES,
            backupCount=LOG_FILES - 1,
            encoding="utf-8",
            errors="replace",
        )
        self._log.setFormatter(Formatter("%(asctime)s %(message)s"))

    def feed(self, data: bytes) -> None:
        """Take a piece of output; an endless line is cut, not collected."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._rest) > LINE_BYTES:
            self.flush()

    def flush(self) -> None:
        """The process ended: what is left is a line too."""
        if self._rest:
            self._take(self._rest)
            self._rest = b""

    def say(self, text: str) -> None:
        """The launcher's own word on the process."""
        self._record(text)
        self._show(text)

    def close(self) -> None:
        self.flush()
        self._log.close()

    def _take(self, line: bytes) -> None:
        text = CONTROL.sub("", line.decode(errors="replace").rstrip())
        self.last_lines.append(text)
        self._record(text)
        if self._is_shown:
            self._show(text)

    def _record(self, text: str) -> None:
        # handle() reports a full disk on stderr and goes on.
        self._log.handle(LogRecord("", 0, "", 0, text, None, None))

    def _show(self, text: str) -> None:
        say(f"{self._name:<7}| {text[:TERMINAL_WIDTH]}")


def say(text: str) -> None:
    """Print; a closed terminal is no reason to end the server."""
    try:
        print(text, flush=True)
    except OSError:
        # Nobody reads any more; the log files go on.
        sys.stdout = open("/dev/null", "w")  # noqa: SIM115 (stays open)
