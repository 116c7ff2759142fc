"""Turns a terminal's character stream into plain lines, as a person would read them."""

import re
from collections import deque
from enum import Enum

TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")
ESCAPE = "\x1b"
TAB_WIDTH = 8
LONGEST_LINE = 4096
RECENT = 10
LONGEST_SEQUENCE = 32
# Titles and the like, up to BEL or ESC \; a longer one is no title.
LONGEST_STRING = 1024
STRING_STARTERS = "]P^_X"


class _State(Enum):
    GROUND = 1
    ESCAPE = 2
    CONTROL = 3
    STRING = 4


class Screen:
    """Lines since `start`, `limit` characters at most, and the unfinished one."""

    def __init__(self, limit: int) -> None:
        self.lines: list[str] = []
        # Also lines beyond the limit: the end of a command shows in them.
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.is_truncated = False
        self._limit = limit
        self._size = 0
        self._line = ""
        self._column = 0
        self._state = _State.GROUND
        self._sequence = ""
        self._string_length = 0

    @property
    def tail(self) -> str:
        """The line that has no end yet: where a prompt stands."""
        return self._line

    def start(self) -> None:
        """Forget the finished lines; the unfinished one stays."""
        self.lines = []
        self.recent.clear()
        self.is_truncated = False
        self._size = 0

    def drop_tail(self) -> None:
        self._line = ""
        self._column = 0

    def feed(self, text: str) -> None:
        position = 0
        while position < len(text):
            if self._state is _State.GROUND:
                run = TEXT.match(text, position)
                if run:
                    self._write(run[0])
                    position = run.end()
                    continue
                self._control(text[position])
            else:
                self._escape(text[position])
            position += 1

    def _write(self, text: str) -> None:
        before = self._line[: self._column].ljust(self._column)
        line = before + text + self._line[self._column + len(text) :]
        self._column = min(self._column + len(text), LONGEST_LINE)
        if len(line) > LONGEST_LINE:
            self.is_truncated = True
            line = line[:LONGEST_LINE]
        self._line = line

    def _control(self, character: str) -> None:
        match character:
            case "\n":
                self._finish_line()
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(self._column - 1, 0)
            case "\t":
                self._write(" " * (TAB_WIDTH - self._column % TAB_WIDTH))
            case "\x1b":
                self._state = _State.ESCAPE

    def _finish_line(self) -> None:
        line = self._line.rstrip()
        self.drop_tail()
        self.recent.append(line)
        room = self._limit - self._size
        if len(line) > room:
            self.is_truncated = True
            line = line[: max(room, 0)]
        if line or room > 0:
            self.lines.append(line)
        self._size += len(line) + 1

    def _escape(self, character: str) -> None:
        if self._state is _State.STRING:
            self._in_string(character)
        elif character < " " or character > "~":
            # The sequence is broken off; what broke it counts.
            self._state = _State.GROUND
            self.feed(character)
        elif self._state is _State.CONTROL:
            self._in_control_sequence(character)
        elif character == "[":
            self._sequence = ""
            self._state = _State.CONTROL
        elif character in STRING_STARTERS:
            self._string_length = 0
            self._state = _State.STRING
        elif character >= "0":
            self._state = _State.GROUND

    def _in_string(self, character: str) -> None:
        self._string_length += 1
        if character == ESCAPE:
            self._state = _State.ESCAPE
        elif character in "\x07\n" or self._string_length > LONGEST_STRING:
            self._state = _State.GROUND

    def _in_control_sequence(self, character: str) -> None:
        if character < "@":
            self._sequence = (self._sequence + character)[:LONGEST_SEQUENCE]
            return
        self._state = _State.GROUND
        count = int(self._sequence) if self._sequence.isdecimal() else 0
        match character:
            case "C":
                self._column = min(self._column + max(count, 1), LONGEST_LINE)
            case "D":
                self._column = max(self._column - max(count, 1), 0)
            case "G":
                self._column = min(max(count, 1) - 1, LONGEST_LINE)
            case "K" if count == 0:
                self._line = self._line[: self._column]
            case "K" if count == 2:
                self._line = ""
