"""Reads the result of a ping, of a PC or a router."""

import re
from dataclasses import dataclass

_RATE = re.compile(r"Success rate is \d+ percent \((\d+)/(\d+)\)")
_REPLY = re.compile(r"^\s*\d+ bytes from \S+.*icmp_seq=", re.I)
_FAILURE = re.compile(
    r"timeout|not reachable|unreachable|No gateway found|ICMP type|TTL|timed out"
    r"|Cannot resolve|prohibited|not same subnet|Bad command|^%|host .* invalid",
    re.I,
)


@dataclass(frozen=True)
class PingResult:
    """Whether it answered, and the one line that shows it."""

    is_reachable: bool
    line: str


def parse_ping(text: str) -> PingResult | None:
    """None when the output holds no result."""
    rate = _RATE.search(text)
    if rate:
        line = next(line for line in text.splitlines() if rate[0] in line)
        return PingResult(int(rate[1]) > 0, line.strip())
    lines = text.splitlines()
    for line in lines:
        if _REPLY.match(line) and "ICMP type" not in line:
            return PingResult(True, line.strip())
    for line in lines:
        if _FAILURE.search(line):
            return PingResult(False, line.strip())
    return None
