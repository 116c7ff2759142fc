"""Carries packets through a simulated network, hop by hop, there and back."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Address

from projects.demolab import access_lists, routing
from projects.demolab.model import Network, Node, NodeType

HOST_TTL = 64
ROUTER_TTL = 255
# More hops than any TTL allows: a guard, never the reason a packet is lost.
MAX_HOPS = 256


class Icmp(StrEnum):
    """What an ICMP message says; the value is the text that VPCS prints."""

    ECHO = "echo"
    REPLY = "echo-reply"
    HOST_UNREACHABLE = "Destination host unreachable"
    PORT_UNREACHABLE = "Destination port unreachable"
    PROHIBITED = "Communication administratively prohibited"
    TTL_EXCEEDED = "TTL expired in transit"


TYPE_AND_CODE = {
    Icmp.HOST_UNREACHABLE: (3, 1),
    Icmp.PORT_UNREACHABLE: (3, 3),
    Icmp.PROHIBITED: (3, 13),
    Icmp.TTL_EXCEEDED: (11, 0),
}


@dataclass(frozen=True)
class Packet:
    source: IPv4Address
    destination: IPv4Address
    ttl: int
    protocol: str = "icmp"
    icmp: Icmp = Icmp.ECHO


class Fate(StrEnum):
    """What became of a probe, as its sender sees it."""

    REPLY = "reply"
    ERROR = "error"
    TIMEOUT = "timeout"
    NO_ARP = "no_arp"
    NO_GATEWAY = "no_gateway"


@dataclass(frozen=True)
class Outcome:
    fate: Fate
    sender: IPv4Address | None = None
    ttl: int = 0
    icmp: Icmp | None = None
    hops: int = 0


@dataclass
class ArpEntry:
    mac: str | None
    interface: str
    learned_at: float


@dataclass
class _Arrival:
    """Where a packet ended: at its addressee, refused on the way, or lost."""

    node: Node | None
    packet: Packet
    hops: int
    refusal: Icmp | None = None
    refused_by: IPv4Address | None = None
    fate: Fate = Fate.TIMEOUT
    wanted: IPv4Address | None = None


@dataclass
class Forwarder:
    """The network in action, with what its devices learned by ARP."""

    network: Network
    arp: dict[str, dict[IPv4Address, ArpEntry]] = field(default_factory=dict)

    def probe(
        self,
        node: Node,
        destination: IPv4Address,
        *,
        protocol: str = "icmp",
        ttl: int | None = None,
        source: IPv4Address | None = None,
    ) -> Outcome:
        """Send one packet and say what its sender gets back."""
        if ttl is None:
            ttl = ROUTER_TTL if node.node_type is NodeType.ROUTER else HOST_TTL
        if node.owns(destination):
            return Outcome(Fate.REPLY, destination, ttl, Icmp.REPLY)
        own = source or self._source_address(node, destination)
        if own is None:
            return Outcome(Fate.NO_GATEWAY if node.host is not None else Fate.TIMEOUT)
        sent = self._carry(node, Packet(own, destination, ttl, protocol))
        if sent.refusal is not None:
            return self._bring_back(
                node, sent, sent.node, sent.refused_by, sent.refusal
            )
        if sent.node is None:
            return Outcome(sent.fate, sent.wanted)
        icmp = Icmp.REPLY if protocol == "icmp" else Icmp.PORT_UNREACHABLE
        return self._bring_back(node, sent, sent.node, destination, icmp)

    def resolve(
        self, node: Node, interface: str, wanted: IPv4Address
    ) -> tuple[Node, str] | None:
        """Ask by ARP who has an address; with several owners the lowest MAC wins."""
        own = node.address(interface)
        if own is None:
            return None
        answers = sorted(
            (
                (other, port)
                for other, port in self.network.segment(node, interface)
                if self._answers_arp(other, port, own.ip, wanted)
            ),
            key=lambda answer: answer[0].mac(answer[1]),
        )
        if not answers:
            if node.router is not None:
                self._learn(node, interface, wanted, None)
            return None
        other, port = answers[0]
        self._learn(node, interface, wanted, other.mac(port))
        for heard, heard_port in answers:
            self._learn(heard, heard_port, own.ip, node.mac(interface))
        return other, port

    def owner_mac(self, node: Node, interface: str, address: IPv4Address) -> str | None:
        """The MAC of another device that uses an address on this segment."""
        for other, port in self.network.segment(node, interface):
            config = other.address(port)
            if config is not None and config.ip == address:
                return other.mac(port)
        return None

    def knows_next_hop(self, node: Node, destination: IPv4Address) -> bool:
        """Whether a packet there can leave without asking by ARP first."""
        hop = routing.next_hop(node, destination)
        entry = self.arp.get(node.node_id, {}).get(hop.address) if hop else None
        return entry is not None and entry.mac is not None

    def forget(self, node: Node) -> None:
        self.arp.pop(node.node_id, None)

    def _source_address(
        self, node: Node, destination: IPv4Address
    ) -> IPv4Address | None:
        hop = routing.next_hop(node, destination)
        if hop is None:
            return None
        address = node.address(hop.interface)
        return address.ip if address else None

    def _answers_arp(
        self, node: Node, port: str, asker: IPv4Address, wanted: IPv4Address
    ) -> bool:
        own = node.address(port)
        if own is None:
            return False
        if node.router is None:
            return own.ip == wanted
        # A router ignores a question from outside its network on that cable.
        if asker not in own.network:
            return False
        if own.ip == wanted:
            return True
        if not node.router.interfaces[port].has_proxy_arp or wanted in own.network:
            return False
        hop = routing.next_hop(node, wanted)
        return hop is not None and hop.interface != port

    def _learn(
        self, node: Node, interface: str, address: IPv4Address, mac: str | None
    ) -> None:
        table = self.arp.setdefault(node.node_id, {})
        table[address] = ArpEntry(mac, interface, time.monotonic())

    def _bring_back(
        self,
        origin: Node,
        sent: _Arrival,
        sender: Node | None,
        address: IPv4Address | None,
        icmp: Icmp,
    ) -> Outcome:
        """Carry the answer home; the wrong owner of an address may swallow it."""
        if sender is None or address is None:
            return Outcome(Fate.TIMEOUT)
        ttl = ROUTER_TTL if sender.node_type is NodeType.ROUTER else HOST_TTL
        answer = self._carry(
            sender, Packet(address, sent.packet.source, ttl, "icmp", icmp)
        )
        if answer.node is not origin or answer.refusal is not None:
            return Outcome(Fate.TIMEOUT)
        fate = Fate.REPLY if icmp is Icmp.REPLY else Fate.ERROR
        return Outcome(fate, address, answer.packet.ttl, icmp, sent.hops)

    def _carry(self, origin: Node, packet: Packet) -> _Arrival:
        node, arrived_on = origin, ""
        for hops in range(MAX_HOPS):
            refusal = self._receive(node, arrived_on, packet) if arrived_on else None
            if refusal is not None:
                return self._refused(node, arrived_on, packet, hops, refusal)
            if node.owns(packet.destination):
                return _Arrival(node, packet, hops)
            if arrived_on:
                if node.router is None:
                    return _Arrival(None, packet, hops)
                packet = replace(packet, ttl=packet.ttl - 1)
            hop = routing.next_hop(node, packet.destination)
            if hop is None:
                if arrived_on:
                    return self._refused(
                        node, arrived_on, packet, hops, Icmp.HOST_UNREACHABLE
                    )
                fate = Fate.NO_GATEWAY if node.host is not None else Fate.TIMEOUT
                return _Arrival(None, packet, hops, fate=fate)
            # As on the real thing, an outbound list spares the router's own packets.
            if arrived_on and not access_lists.admits(
                node, hop.interface, "out", packet
            ):
                return self._refused(node, arrived_on, packet, hops, Icmp.PROHIBITED)
            neighbour = self.resolve(node, hop.interface, hop.address)
            if neighbour is None:
                is_host = not arrived_on and node.host is not None
                fate = Fate.NO_ARP if is_host else Fate.TIMEOUT
                return _Arrival(None, packet, hops, fate=fate, wanted=hop.address)
            node, arrived_on = neighbour
        return _Arrival(None, packet, MAX_HOPS)

    @staticmethod
    def _receive(node: Node, interface: str, packet: Packet) -> Icmp | None:
        """Why a router does not take a packet from a cable."""
        if not access_lists.admits(node, interface, "in", packet):
            return Icmp.PROHIBITED
        is_transit = node.router is not None and not node.owns(packet.destination)
        return Icmp.TTL_EXCEEDED if is_transit and packet.ttl <= 1 else None

    @staticmethod
    def _refused(
        node: Node, interface: str, packet: Packet, hops: int, icmp: Icmp
    ) -> _Arrival:
        own = node.address(interface)
        return _Arrival(node, packet, hops, icmp, own.ip if own else None)
