"""A healthy lab and the two PCs between which a fault is planted."""

from __future__ import annotations

import random
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from projects.demolab import routing
from projects.demolab.forwarding import Forwarder
from projects.demolab.model import (
    HostConfig,
    InterfaceConfig,
    Network,
    Node,
    RouterConfig,
)


@dataclass
class Scene:
    """A healthy lab, the two PCs of the question, and the dice."""

    network: Network
    source: Node
    target: Node
    rng: random.Random

    def path(self, *, is_back: bool = False) -> list[tuple[Node, str, str]]:
        """The routers between the PCs, each with its way in and its way out."""
        start, goal = self.source, self.target
        if is_back:
            start, goal = goal, start
        wanted = own(goal).ip
        forwarder = Forwarder(self.network)
        node, way_in = start, ""
        steps: list[tuple[Node, str, str]] = []
        while not node.owns(wanted):
            hop = routing.next_hop(node, wanted)
            neighbour = (
                forwarder.resolve(node, hop.interface, hop.address) if hop else None
            )
            if hop is None or neighbour is None or len(steps) > 8:
                return []
            if node.router is not None:
                steps.append((node, way_in, hop.interface))
            node, way_in = neighbour
        return steps

    def pick_pc(self) -> Node:
        return self.rng.choice((self.source, self.target))

    def peers(self, pc: Node) -> list[Node]:
        """Other PCs on the same cable."""
        heard = self.network.segment(pc, pc.ports[0].name)
        return [node for node, _ in heard if node.host is not None]

    def is_confirmed(self, pc: Node, router: Node) -> bool:
        """Whether anything but the PC shows which network its cable should have."""
        others = (node.router for node in self.network.nodes.values())
        return bool(self.peers(pc)) or any(
            route.network == own(pc).network
            for config in others
            if config is not None and config is not router.router
            for route in config.routes
        )

    def gateway_of(self, pc: Node) -> tuple[Node, str]:
        """The router interface that is this PC's gateway."""
        assert pc.host is not None
        assert pc.host.gateway is not None
        found = Forwarder(self.network).resolve(pc, pc.ports[0].name, pc.host.gateway)
        assert found is not None
        return found

    def free_address(self, network: IPv4Network) -> IPv4Address | None:
        """An address of the network that no device uses."""
        taken = {
            address.ip
            for node in self.network.nodes.values()
            for _, address in node.addresses()
        }
        free = [address for address in network.hosts() if address not in taken]
        return self.rng.choice(free) if free else None

    def other_network(self, network: IPv4Network) -> IPv4Network | None:
        """A network of the same size close by that the lab does not use."""
        taken = [
            address.network
            for node in self.network.nodes.values()
            for _, address in node.addresses()
        ]
        parent = network.supernet(new_prefix=max(network.prefixlen - 5, 8))
        free = [
            candidate
            for candidate in parent.subnets(new_prefix=network.prefixlen)
            if not any(candidate.overlaps(other) for other in taken)
        ]
        return self.rng.choice(free) if free else None


def host_of(node: Node) -> HostConfig:
    assert node.host is not None
    return node.host


def router_of(node: Node) -> RouterConfig:
    assert node.router is not None
    return node.router


def own(pc: Node) -> IPv4Interface:
    address = host_of(pc).address
    assert address is not None
    return address


def interface_of(router: Node, name: str) -> InterfaceConfig:
    return router_of(router).interfaces[name]
