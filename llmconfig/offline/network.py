"""The network as the consoles and the topology describe it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from llmconfig.offline.acl import AclRule
from llmconfig.offline.quotes import Quote

# A device and one of its ports, the port in the form of port_key().
End = tuple[str, str]
_PORT = re.compile(r"^\s*([A-Za-z-]*)\s*([\d/.:]*)")


class Role(StrEnum):
    HOST = "host"
    ROUTER = "router"
    SWITCH = "switch"
    OTHER = "other"


def port_key(name: str) -> str:
    """One form for FastEthernet0/0, Fa0/0 and f0/0."""
    found = _PORT.match(name)
    if found is None or not found[2]:
        return name.strip().lower()
    return f"{found[1][:1].lower()}{found[2]}"


@dataclass(frozen=True)
class Interface:
    port: str
    name: str
    address: IPv4Interface | None = None
    is_down: bool = False
    is_shut: bool = False
    acl_in: str = ""
    acl_out: str = ""
    has_proxy_arp: bool = True
    # Keyed by what they show: section, address, state, in, out.
    quotes: Mapping[str, Quote] = field(default_factory=dict)

    def shown(self, key: str) -> list[Quote]:
        """The line that shows this, below its section's head in a configuration."""
        quote, section = self.quotes.get(key), self.quotes.get("section")
        if quote is None:
            return []
        is_inside = section is not None and section.command == quote.command
        return [section, quote] if section and is_inside else [quote]


@dataclass(frozen=True)
class Route:
    network: IPv4Network
    next_hop: IPv4Address | None
    port: str
    is_static: bool
    quote: Quote


@dataclass(frozen=True)
class Device:
    name: str
    role: Role
    is_started: bool = True
    is_known: bool = True
    problem: str = ""
    interfaces: tuple[Interface, ...] = ()
    gateway: IPv4Address | None = None
    routes: tuple[Route, ...] = ()
    acls: Mapping[str, tuple[AclRule, ...]] = field(default_factory=dict)
    # Keyed by what they show: gateway, status, problem, last_resort.
    quotes: Mapping[str, Quote] = field(default_factory=dict)

    @property
    def addressed(self) -> list[Interface]:
        return [interface for interface in self.interfaces if interface.address]

    def interface(self, port: str) -> Interface | None:
        return next((i for i in self.interfaces if i.port == port), None)

    def with_interface(self, changed: Interface) -> "Device":
        interfaces = tuple(
            changed if i.port == changed.port else i for i in self.interfaces
        )
        return replace(self, interfaces=interfaces)

    def owns(self, address: IPv4Address) -> bool:
        return any(i.address and i.address.ip == address for i in self.interfaces)


@dataclass(frozen=True)
class Wire:
    a: End
    b: End
    is_suspended: bool
    quote: Quote
    label: str


@dataclass(frozen=True)
class Network:
    """Immutable, so that a repair can be tried on a copy."""

    devices: Mapping[str, Device]
    wires: tuple[Wire, ...]

    def with_device(self, changed: Device) -> "Network":
        return replace(self, devices={**self.devices, changed.name: changed})

    def with_interface(self, name: str, changed: Interface) -> "Network":
        return self.with_device(self.devices[name].with_interface(changed))

    def with_wire(self, changed: Wire) -> "Network":
        wires = tuple(
            changed if (w.a, w.b) == (changed.a, changed.b) else w for w in self.wires
        )
        return replace(self, wires=wires)

    def of_role(self, role: Role) -> list[Device]:
        return [device for device in self.devices.values() if device.role is role]

    @cached_property
    def wires_of(self) -> dict[str, list[Wire]]:
        found: dict[str, list[Wire]] = {name: [] for name in self.devices}
        for wire in self.wires:
            for name in {wire.a[0], wire.b[0]}:
                found.setdefault(name, []).append(wire)
        return found

    def carries(self, end: End) -> bool:
        """Does this end take part in its broadcast domain?"""
        device = self.devices.get(end[0])
        if device is None or not device.is_started:
            return False
        interface = device.interface(end[1])
        return interface is None or not interface.is_down

    @cached_property
    def _segments(self) -> dict[End, frozenset[End]]:
        return {}

    # Filled by topology_graph: a network never changes, a repaired one is another.
    @cached_property
    def neighbours_of(self) -> dict[str, list[tuple[str, IPv4Address]]]:
        return {}

    @cached_property
    def distances_to(self) -> dict[IPv4Network, dict[str, int]]:
        return {}

    def segment(self, end: End) -> frozenset[End]:
        """The ends that hear a broadcast sent from this end, itself included."""
        if end not in self._segments:
            members = frozenset(self._flood(end))
            self._segments.update(dict.fromkeys(members, members))
            self._segments[end] = members
        return self._segments[end]

    def _flood(self, start: End) -> Iterator[End]:
        if not self.carries(start):
            return
        seen, queue = {start}, [start]
        while queue:
            end = queue.pop()
            yield end
            for other in self._across(end):
                if other not in seen and self.carries(other):
                    seen.add(other)
                    queue.append(other)

    def _across(self, end: End) -> Iterator[End]:
        for wire in self.wires_of.get(end[0], []):
            if end == wire.a or end == wire.b:
                if not wire.is_suspended:
                    yield wire.b if end == wire.a else wire.a
            elif self.devices[end[0]].role is Role.SWITCH:
                yield wire.a if wire.a[0] == end[0] else wire.b

    def members(self, end: End) -> list[tuple[Device, Interface]]:
        """The addressed interfaces in the broadcast domain of an end."""
        found = []
        for name, port in sorted(self.segment(end)):
            interface = self.devices[name].interface(port)
            if interface and interface.address:
                found.append((self.devices[name], interface))
        return found

    def owners(self, end: End, address: IPv4Address) -> list[tuple[Device, Interface]]:
        """Who answers an ARP request for the address, sent from this end."""
        return [
            (device, interface)
            for device, interface in self.members(end)
            if (device.name, interface.port) != end
            and interface.address
            and interface.address.ip == address
        ]

    def live_segments(self) -> list[frozenset[End]]:
        """Every broadcast domain with an address in it, once."""
        found: dict[frozenset[End], None] = {}
        for device in self.devices.values():
            for interface in device.addressed:
                segment = self.segment((device.name, interface.port))
                if segment:
                    found[segment] = None
        return list(found)


def first_quotes(quotes: Iterable[Quote | None]) -> tuple[Quote, ...]:
    """Without gaps and repetitions, in order."""
    return tuple(dict.fromkeys(quote for quote in quotes if quote and quote.line))
