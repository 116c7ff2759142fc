"""Access lists: reading, showing and applying them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from projects.demolab.model import AccessEntry, AccessList, Action, AddressMatch, Node

if TYPE_CHECKING:
    from projects.demolab.forwarding import Packet

ANY = IPv4Address("255.255.255.255")
ANYWHERE = AddressMatch()
PROTOCOLS = ("ip", "icmp", "tcp", "udp")
ICMP_NAMES = ("echo", "echo-reply", "unreachable", "ttl-exceeded")


class BadEntry(ValueError):
    """The word at this index does not belong there; past the end: too few words."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def is_extended_number(name: str) -> bool:
    return name.isdigit() and (100 <= int(name) <= 199 or 2000 <= int(name) <= 2699)


def is_valid_number(name: str) -> bool:
    return name.isdigit() and (1 <= int(name) <= 99 or is_extended_number(name))


def parse(words: list[str], *, is_extended: bool) -> AccessEntry:
    """Read `permit icmp any host 10.0.0.1 echo`; raises BadEntry with the place."""
    action = _keyword(words, 0, tuple(Action))
    index = 1
    protocol = ""
    if is_extended:
        protocol = _keyword(words, index, PROTOCOLS)
        index += 1
    source, index = _address(words, index, has_bare_host=not is_extended)
    entry = AccessEntry(Action(action), source, protocol)
    if is_extended:
        entry.destination, index = _address(words, index, has_bare_host=False)
        if index < len(words) and protocol == "icmp":
            entry.qualifier = _keyword(words, index, ICMP_NAMES)
            index += 1
        elif index < len(words) and protocol in ("tcp", "udp"):
            _keyword(words, index, ("eq",))
            if index + 1 >= len(words) or not words[index + 1].isalnum():
                raise BadEntry(index + 1)
            entry.qualifier = f"eq {words[index + 1]}"
            index += 2
    if index < len(words) and words[index] != "log":
        raise BadEntry(index)
    return entry


def add(access_list: AccessList, entry: AccessEntry) -> None:
    """Append, unless a number was given; numbers go up by ten."""
    if not entry.sequence:
        last = max((known.sequence for known in access_list.entries), default=0)
        entry.sequence = last + 10
    access_list.entries = [
        known for known in access_list.entries if known.sequence != entry.sequence
    ]
    access_list.entries.append(entry)
    access_list.entries.sort(key=lambda known: known.sequence)


def text(entry: AccessEntry, *, is_extended: bool) -> str:
    """The entry as the configuration shows it."""
    if not is_extended:
        source = _address_text(entry.source)
        return f"{entry.action} {source.removeprefix('host ')}"
    parts = [
        entry.action,
        entry.protocol,
        _address_text(entry.source),
        _address_text(entry.destination),
        entry.qualifier,
    ]
    return " ".join(part for part in parts if part)


def show_line(entry: AccessEntry, *, is_extended: bool) -> str:
    """The entry as `show access-lists` shows it."""
    line = f"    {entry.sequence} {text(entry, is_extended=is_extended)}"
    if not is_extended and int(entry.source.wildcard) not in (0, int(ANY)):
        line = (
            f"    {entry.sequence} {entry.action} {entry.source.address}, "
            f"wildcard bits {entry.source.wildcard}"
        )
    if entry.hits:
        line += f" ({entry.hits} match{'es' if entry.hits > 1 else ''})"
    return line


def admits(node: Node, interface: str, direction: str, packet: Packet) -> bool:
    """Whether the list on an interface lets a packet pass; counts the match."""
    if node.router is None:
        return True
    config = node.router.interfaces[interface]
    name = config.access_in if direction == "in" else config.access_out
    access_list = node.router.access_lists.get(name)
    # A list that is applied but has no entries lets all pass.
    if access_list is None or not access_list.entries:
        return True
    for entry in access_list.entries:
        if _matches(entry, packet):
            entry.hits += 1
            return entry.action is Action.PERMIT
    return False


def from_network(network: IPv4Network) -> AddressMatch:
    return AddressMatch(network.network_address, network.hostmask)


def _matches(entry: AccessEntry, packet: Packet) -> bool:
    if not entry.source.matches(packet.source):
        return False
    if not entry.protocol:
        return True
    if entry.protocol not in ("ip", packet.protocol):
        return False
    if not entry.destination.matches(packet.destination):
        return False
    if not entry.qualifier:
        return True
    if packet.protocol != "icmp":
        return False
    if entry.qualifier == "unreachable":
        return packet.icmp.startswith(("Destination", "Communication"))
    if entry.qualifier == "ttl-exceeded":
        return packet.icmp.startswith("TTL")
    return packet.icmp == entry.qualifier


def _keyword(words: list[str], index: int, choices: tuple[str, ...]) -> str:
    if index >= len(words):
        raise BadEntry(index)
    word = words[index].lower()
    if word in choices:
        return str(word)
    found = [choice for choice in choices if choice.startswith(word)]
    if len(found) != 1:
        raise BadEntry(index)
    return str(found[0])


def _address(
    words: list[str], index: int, *, has_bare_host: bool
) -> tuple[AddressMatch, int]:
    if index >= len(words):
        raise BadEntry(index)
    if words[index] == "any":
        return AddressMatch(), index + 1
    if words[index] == "host":
        address = _ip(words, index + 1)
        return AddressMatch(address, IPv4Address(0)), index + 2
    address = _ip(words, index)
    if has_bare_host and index + 1 >= len(words):
        return AddressMatch(address, IPv4Address(0)), index + 1
    wildcard = _ip(words, index + 1)
    network = IPv4Address(int(address) & ~int(wildcard))
    return AddressMatch(network, wildcard), index + 2


def _ip(words: list[str], index: int) -> IPv4Address:
    try:
        return IPv4Address(words[index])
    except (IndexError, ValueError):
        raise BadEntry(index) from None


def _address_text(match: AddressMatch) -> str:
    if match.wildcard == ANY:
        return "any"
    if int(match.wildcard) == 0:
        return f"host {match.address}"
    return f"{match.address} {match.wildcard}"
