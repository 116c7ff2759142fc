"""What a simulated lab consists of: nodes, their configuration, and links."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network


class NodeType(StrEnum):
    VPCS = "vpcs"
    ROUTER = "dynamips"
    SWITCH = "ethernet_switch"


class Action(StrEnum):
    PERMIT = "permit"
    DENY = "deny"


@dataclass
class Port:
    name: str
    short_name: str
    adapter: int
    number: int
    mac: str


@dataclass
class InterfaceConfig:
    address: IPv4Interface | None = None
    is_shutdown: bool = True
    description: str = ""
    access_in: str = ""
    access_out: str = ""
    has_proxy_arp: bool = True


@dataclass
class StaticRoute:
    network: IPv4Network
    next_hop: IPv4Address | None = None
    interface: str = ""
    distance: int = 1


@dataclass
class AddressMatch:
    """An address and the bits of it that do not matter."""

    address: IPv4Address = field(default_factory=lambda: IPv4Address(0))
    wildcard: IPv4Address = field(
        default_factory=lambda: IPv4Address("255.255.255.255")
    )

    def matches(self, address: IPv4Address) -> bool:
        return (int(address) ^ int(self.address)) & ~int(self.wildcard) == 0


@dataclass
class AccessEntry:
    action: Action
    source: AddressMatch
    protocol: str = ""
    destination: AddressMatch = field(default_factory=AddressMatch)
    qualifier: str = ""
    sequence: int = 0
    hits: int = 0


@dataclass
class AccessList:
    is_extended: bool
    entries: list[AccessEntry] = field(default_factory=list)


@dataclass
class HostConfig:
    pcname: str
    address: IPv4Interface | None = None
    gateway: IPv4Address | None = None
    mtu: int = 1500


@dataclass
class RouterConfig:
    hostname: str
    interfaces: dict[str, InterfaceConfig] = field(default_factory=dict)
    routes: list[StaticRoute] = field(default_factory=list)
    access_lists: dict[str, AccessList] = field(default_factory=dict)


@dataclass
class Node:
    node_id: str
    name: str
    node_type: NodeType
    ports: list[Port]
    x: int = 0
    y: int = 0
    console: int | None = None
    is_started: bool = False
    template_id: str | None = None
    host: HostConfig | None = None
    router: RouterConfig | None = None
    saved_host: HostConfig | None = None
    saved_router: RouterConfig | None = None

    def save(self) -> None:
        """Make the running configuration the one it starts with."""
        self.saved_host = copy.deepcopy(self.host)
        self.saved_router = copy.deepcopy(self.router)

    def boot(self) -> None:
        """Forget what was not saved, as a device does when it restarts."""
        self.host = copy.deepcopy(self.saved_host)
        self.router = copy.deepcopy(self.saved_router)

    def port(self, name: str) -> Port | None:
        return next((port for port in self.ports if port.name == name), None)

    def mac(self, interface: str) -> str:
        port = self.port(interface)
        return port.mac if port else self.ports[0].mac

    def is_up(self, interface: str) -> bool:
        if not self.is_started:
            return False
        if self.router is None:
            return True
        config = self.router.interfaces.get(interface)
        return config is not None and not config.is_shutdown

    def address(self, interface: str) -> IPv4Interface | None:
        """The address an interface answers to; none while it is down."""
        if not self.is_up(interface):
            return None
        if self.host is not None:
            return self.host.address
        if self.router is not None:
            return self.router.interfaces[interface].address
        return None

    def addresses(self) -> Iterator[tuple[str, IPv4Interface]]:
        names = (
            list(self.router.interfaces)
            if self.router is not None
            else [port.name for port in self.ports]
        )
        for name in names:
            address = self.address(name)
            if address is not None:
                yield name, address

    def owns(self, address: IPv4Address) -> bool:
        return any(own.ip == address for _, own in self.addresses())


@dataclass(frozen=True)
class LinkEnd:
    node_id: str
    adapter: int
    number: int


@dataclass
class Link:
    link_id: str
    ends: tuple[LinkEnd, LinkEnd]
    is_suspended: bool = False


@dataclass
class Network:
    """The nodes and links of one project."""

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)

    def named(self, name: str) -> Node:
        return next(node for node in self.nodes.values() if node.name == name)

    def link_at(self, node: Node, port: Port) -> Link | None:
        end = LinkEnd(node.node_id, port.adapter, port.number)
        return next((link for link in self.links.values() if end in link.ends), None)

    def far_end(self, node: Node, port: Port) -> tuple[Node, Port] | None:
        """What is plugged in at the other end of a working cable."""
        link = self.link_at(node, port)
        if link is None or link.is_suspended:
            return None
        here = LinkEnd(node.node_id, port.adapter, port.number)
        there = link.ends[1] if link.ends[0] == here else link.ends[0]
        other = self.nodes[there.node_id]
        for candidate in other.ports:
            if (candidate.adapter, candidate.number) == (there.adapter, there.number):
                return other, candidate
        return None

    def segment(self, node: Node, interface: str) -> list[tuple[Node, str]]:
        """Who hears a broadcast sent from here, directly or through switches."""
        start = node.port(interface)
        if start is None or not node.is_up(interface):
            return []
        heard: list[tuple[Node, str]] = []
        seen = {(node.node_id, start.name)}
        waiting = [(node, start)]
        while waiting:
            far = self.far_end(*waiting.pop())
            if far is None or (far[0].node_id, far[1].name) in seen:
                continue
            other, port = far
            seen.add((other.node_id, port.name))
            if other.node_type is NodeType.SWITCH:
                if other.is_started:
                    rest = [
                        p for p in other.ports if (other.node_id, p.name) not in seen
                    ]
                    seen.update((other.node_id, p.name) for p in rest)
                    waiting.extend((other, p) for p in rest)
            elif other.is_up(port.name):
                heard.append((other, port.name))
        return heard
