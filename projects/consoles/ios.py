"""The command line of Cisco IOS and of routers that imitate it.

The marker is a comment (`!…`): it is valid in every mode, does nothing, and is echoed
only when the command line reads it. Ctrl-U clears a half-typed line and says no to a
`[confirm]` that someone left open, which Return would accept.
"""

import re
from collections.abc import Iterable, Sequence

PROMPT = re.compile(r"(?P<host>[^\s>#()!?%]+)(?P<mode>\([\w.\-/:+ ]+\))?[>#] ?")
QUESTION = re.compile(
    r"(?i)(?:\[(?!ok)[^\]]*\] ?[:?]?|\?|(?:yes/no|y/n)\)?:?|password:"
    r"|target ip address:) *$"
)
LOG_LINE = re.compile(r"(?:[*.]?[A-Z][a-z]{2} +\d+ .*|\d+: .*|[\d:.]+: )?%[\w-]+-\d-")
BOOT = re.compile(
    r"(?i)system bootstrap|self decompressing|#{20}|restricted rights legend"
    r"|initializing memory|press return to get started|cisco ios software|rommon"
)
GREETINGS = (
    (re.compile(r"(?i)press return to get started"), "\r"),
    (re.compile(r"(?i)initial configuration dialog\? ?(?:\[yes/no\])?:? *$"), "no\r"),
    (re.compile(r"(?i)please answer 'yes' or 'no'.*$"), "no\r"),
    (re.compile(r"(?i)terminate autoinstall\? ?\[yes\]:? *$"), "yes\r"),
    (re.compile(r"(?i)\[yes/no\]: *$"), "no\r"),
)
ANSWERS = (
    (re.compile(r"(?i)destination filename \[startup-config\]\? *$"), "\r"),
    (re.compile(r"(?i)overwrite the previous nvram config.*\[confirm\] *$"), "\r"),
    (re.compile(r"(?i)press return to get started"), "\r"),
    # `enable` on a device with a secret: an empty one is refused, and we go on.
    (re.compile(r"(?i)^password: *$"), "\r"),
)


class Ios:
    name = "ios"
    erase = "\x15"
    interrupt = "\x1e\x03"

    def keys(self, command: str) -> str:
        # Help is shown at `?` without Return, and then the rest of the line is back:
        # it must be erased, as Return would run it.
        return f"{command}{self.erase}\r" if command.endswith("?") else f"{command}\r"

    def marker_command(self, marker: str) -> str:
        return f"!{marker}"

    def has_marker(self, lines: Iterable[str], marker: str) -> bool:
        return any(line.endswith(f"!{marker}") for line in lines)

    def is_prompt(self, tail: str) -> bool:
        return PROMPT.fullmatch(tail) is not None

    def starts_with_prompt(self, prompt: str, line: str) -> bool:
        ours, theirs = PROMPT.match(prompt), PROMPT.match(line)
        return bool(ours and theirs and ours["host"] == theirs["host"])

    def is_question(self, tail: str) -> bool:
        return QUESTION.search(tail) is not None

    def answer(self, tail: str) -> str | None:
        return _first(ANSWERS, tail)

    def greeting_answer(self, tail: str) -> str | None:
        return _first(GREETINGS, tail)

    def is_noise(self, line: str) -> bool:
        return not line.strip() or LOG_LINE.match(line.strip()) is not None

    def is_booting(self, lines: Sequence[str]) -> bool:
        return any(BOOT.search(line) for line in lines)

    def preparation(self, prompt: str) -> Sequence[str]:
        leave = ("end",) if "(" in prompt else ()
        enable = ("enable",) if prompt.rstrip().endswith(">") else ()
        return *leave, *enable, "terminal length 0", "terminal width 511"

    def farewell(self, prompt: str) -> Sequence[str]:
        return ("end",) if "(" in prompt else ()

    def error_in(self, lines: Sequence[str]) -> str:
        said = (line.strip() for line in lines)
        # That a table lacks an entry is an answer, not an error.
        errors = (
            line
            for line in said
            if line.startswith("%") and not line.endswith("not in table")
        )
        return next((line for line in errors if not LOG_LINE.match(line)), "")


def _first(table: Sequence[tuple[re.Pattern[str], str]], tail: str) -> str | None:
    return next((keys for pattern, keys in table if pattern.search(tail)), None)
