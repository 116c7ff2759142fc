"""Access lists of a router: reading a rule and applying a list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

_MATCHES = re.compile(r"\s*\(\d+ match(?:es)?\)\s*$")
_ALL = 0xFFFFFFFF
_ICMP_TYPES = {"echo", "echo-reply", "8", "0"}


@dataclass(frozen=True)
class AddressMatch:
    """An address and its wildcard bits."""

    address: int
    wildcard: int

    def covers(self, address: IPv4Address) -> bool:
        return (int(address) ^ self.address) & ~self.wildcard & _ALL == 0


@dataclass(frozen=True)
class AclRule:
    """One line of an access list; `line` is what the router printed."""

    is_permit: bool
    protocol: str
    source: AddressMatch
    destination: AddressMatch
    qualifiers: tuple[str, ...]
    line: str
    command: str

    def covers(self, source: IPv4Address, destination: IPv4Address, kind: str) -> bool:
        """Does it match an ICMP packet of this kind (echo, echo-reply)?"""
        if self.protocol not in {"ip", "icmp", "1"}:
            return False
        if not (self.source.covers(source) and self.destination.covers(destination)):
            return False
        types = [word for word in self.qualifiers if word in _ICMP_TYPES]
        number = {"echo": "8", "echo-reply": "0"}.get(kind, kind)
        return not types or kind in types or number in types


def judge(
    rules: Sequence[AclRule], source: IPv4Address, destination: IPv4Address, kind: str
) -> tuple[bool, AclRule | None]:
    """Does the packet pass, and the rule that decided (None: the implicit deny)."""
    for rule in rules:
        if rule.covers(source, destination, kind):
            return rule.is_permit, rule
    # An access list without lines lets everything pass.
    return not rules, None


def parse_rule(text: str, *, line: str, command: str) -> AclRule | None:
    """A rule such as `deny icmp any host 10.0.0.1 echo`; None if it is none."""
    words = _MATCHES.sub("", text).lower().replace(",", " ").split()
    words = [w for w in words if w not in {"wildcard", "bits", "log"}]
    if words and words[0].isdigit():
        words = words[1:]
    if not words or words[0] not in {"permit", "deny"}:
        return None
    is_permit, rest = words[0] == "permit", words[1:]
    anything = AddressMatch(0, _ALL)
    protocol = "ip"
    destination: AddressMatch | None = anything
    is_standard = not rest or rest[0] in {"any", "host"} or _number(rest[0]) is not None
    if not is_standard:
        protocol, rest = rest[0], rest[1:]
    source, rest = _take(rest)
    if not is_standard:
        rest = _skip_port(rest)
        destination, rest = _take(rest)
    if source is None or destination is None:
        return None
    return AclRule(is_permit, protocol, source, destination, tuple(rest), line, command)


def _take(words: list[str]) -> tuple[AddressMatch | None, list[str]]:
    """The next address specification, and what follows it."""
    if not words:
        return None, []
    if words[0] == "any":
        return AddressMatch(0, _ALL), words[1:]
    if words[0] == "host" and len(words) > 1:
        address = _number(words[1])
        return (None if address is None else AddressMatch(address, 0)), words[2:]
    address = _number(words[0])
    if address is None:
        return None, words
    wildcard = _number(words[1]) if len(words) > 1 else None
    if wildcard is None:
        return AddressMatch(address, 0), words[1:]
    return AddressMatch(address, wildcard), words[2:]


def _skip_port(words: list[str]) -> list[str]:
    if words and words[0] in {"eq", "gt", "lt", "neq"}:
        return words[2:]
    return words[3:] if words and words[0] == "range" else words


def _number(text: str) -> int | None:
    try:
        return int(IPv4Address(text))
    except ValueError:
        return None
