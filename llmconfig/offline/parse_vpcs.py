"""Reads what a VPCS console prints."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

_IP_MASK = re.compile(r"^IP/MASK\s*:\s*(\S+)", re.M)
_GATEWAY = re.compile(r"^GATEWAY\s*:\s*(\S+)", re.M)
_ARP = re.compile(r"^((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\s+(\d+\.\d+\.\d+\.\d+)\b", re.I)


@dataclass(frozen=True)
class HostAddress:
    """The address of a PC, with the lines that say so."""

    address: IPv4Interface | None
    gateway: IPv4Address | None
    address_line: str
    gateway_line: str


@dataclass(frozen=True)
class ArpEntry:
    address: IPv4Address
    mac: str
    line: str


def to_address(text: str) -> IPv4Address | None:
    """An address that a device can hold; 0.0.0.0 means none."""
    try:
        address = IPv4Address(text.strip())
    except ValueError:
        return None
    return None if address == IPv4Address(0) else address


def to_interface(text: str) -> IPv4Interface | None:
    """`10.0.0.1/24` as an interface address."""
    try:
        found = IPv4Interface(text.strip())
    except ValueError:
        return None
    return None if found.ip == IPv4Address(0) else found


def parse_show_ip(text: str) -> HostAddress | None:
    """None when the output is not that of `show ip`."""
    address = _IP_MASK.search(text)
    if address is None:
        return None
    gateway = _GATEWAY.search(text)
    return HostAddress(
        address=to_interface(address[1]),
        gateway=to_address(gateway[1]) if gateway else None,
        address_line=line_at(text, address.start()),
        gateway_line=line_at(text, gateway.start()) if gateway else "",
    )


def parse_arp(text: str) -> list[ArpEntry]:
    entries = []
    for line in text.splitlines():
        found = _ARP.match(line.strip())
        address = to_address(found[2]) if found else None
        if found and address:
            entries.append(ArpEntry(address, found[1].lower(), line.strip()))
    return entries


def line_at(text: str, position: int) -> str:
    """The whole line around a position, as printed."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()
