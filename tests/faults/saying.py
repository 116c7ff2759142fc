"""Answers in which a lost or doubled word shows."""

from tests.fakes.provider import Answer, calls, says

PACE = 0.02
# The simulated lab takes eight seconds for it.
SLOW_PING = "ping 10.0.1.254 -c 160"


def numbered(count: int) -> str:
    return " ".join(f"w{number}" for number in range(1, count + 1))


def counts_to(count: int) -> Answer:
    """At fifty words a second."""
    return says(numbered(count), pace=PACE)


def slow_read() -> Answer:
    return calls(
        ("run_commands", {"devices": [{"device": "PC1", "commands": [SLOW_PING]}]})
    )


def slow_change() -> Answer:
    commands = ["set pcname PC1", SLOW_PING]
    return calls(
        ("run_commands", {"devices": [{"device": "PC1", "commands": commands}]})
    )
