"""Reads the arguments of VPCS commands and writes their answers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from projects.demolab.forwarding import (
    TYPE_AND_CODE,
    Fate,
    Outcome,
)

DEFAULT_COUNT = 5


@dataclass
class PingOptions:
    count: int = DEFAULT_COUNT
    size: int = 64
    ttl: int = 64
    protocol: str = "icmp"

    @classmethod
    def parse(cls, words: list[str]) -> PingOptions:
        """Read `-c 2 -T 3`; raises ValueError on an option it does not know."""
        options = cls()
        rest = iter(words)
        for word in rest:
            match word:
                case "-c":
                    options.count = max(int(next(rest, "5")), 1)
                case "-T":
                    options.ttl = max(int(next(rest, "64")), 1)
                case "-l":
                    options.size = int(next(rest, "64"))
                case "-t":
                    options.count = 0
                case "-1" | "-D":
                    options.protocol = "icmp"
                case "-2":
                    options.protocol = "udp"
                case "-P":
                    protocols = {"1": "icmp", "17": "udp", "6": "tcp"}
                    options.protocol = protocols.get(next(rest, "1"), "icmp")
                case "-3":
                    options.protocol = "tcp"
                case "-i" | "-w" | "-s" | "-p" | "-f":
                    next(rest, "")
                case _ if word.startswith("-"):
                    raise ValueError(word)
        return options


def parse_address(words: list[str]) -> tuple[IPv4Interface, IPv4Address | None]:
    """Read `A/M [G]`, `A MASK G`, `A G M`; raises ValueError with VPCS's text."""
    text, _, mask = words[0].partition("/")
    gateway: IPv4Address | None = None
    try:
        address = IPv4Address(text)
        for word in words[1:3]:
            word = word.removeprefix("/")
            if word.isdigit() or word.startswith("255."):
                mask = word
            else:
                gateway = IPv4Address(word)
        # VPCS takes a mask that cannot be for /24.
        if mask.isdigit() and not 0 < int(mask) < 32:
            mask = "24"
        own = IPv4Interface(f"{address}/{mask or 24}")
    except ValueError:
        raise ValueError("Invalid address") from None
    if int(address) == 0 or gateway == address:
        raise ValueError("Invalid address")
    network = own.network
    if network.prefixlen < 31 and address in (
        network.network_address,
        network.broadcast_address,
    ):
        raise ValueError("Invalid host address")
    if gateway is not None and gateway not in network:
        raise ValueError("not same subnet")
    return own, gateway


def latency(outcome: Outcome) -> float:
    """Milliseconds, in the range real emulated routers show."""
    return random.uniform(0.3, 0.9) + outcome.hops * random.uniform(7.0, 14.0)


def ping_line(
    destination: IPv4Address, number: int, options: PingOptions, outcome: Outcome
) -> str:
    label = f"{options.protocol}_seq={number}"
    if outcome.fate is Fate.TIMEOUT:
        return f"{destination} {label} timeout\n"
    timing = f"{label} ttl={outcome.ttl} time={latency(outcome):.3f} ms"
    if outcome.fate is Fate.REPLY:
        if outcome.hops == 0 and outcome.ttl == options.ttl:
            return f"{destination} {label} ttl={outcome.ttl} time=0.001 ms\n"
        return f"{options.size + 20} bytes from {destination} {timing}\n"
    return f"*{outcome.sender} {timing}{icmp_text(outcome)}\n"


def icmp_text(outcome: Outcome) -> str:
    assert outcome.icmp is not None
    kind, code = TYPE_AND_CODE[outcome.icmp]
    return f" (ICMP type:{kind}, code:{code}, {outcome.icmp})"
