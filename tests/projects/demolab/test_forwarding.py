"""The arithmetic of the simulated network."""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.demolab import routing
from projects.demolab.forwarding import Fate, Forwarder, Icmp
from projects.demolab.generate import NO_FAULT, build, default_lab
from projects.demolab.model import Network, Node, NodeType, StaticRoute
from projects.demolab.plans import random_plan

SEEDS = st.integers(0, 2**32)
ADDRESSES = st.integers(0, 2**32 - 1).map(IPv4Address)


def address(node: Node) -> IPv4Address:
    assert node.host is not None
    assert node.host.address is not None
    return node.host.address.ip


def pcs(network: Network) -> list[Node]:
    """The PCs that are in use; spare ones have no address."""
    return [n for n in network.nodes.values() if n.host and n.host.address]


@settings(deadline=None, max_examples=60)
@given(SEEDS)
def test_every_pc_of_a_healthy_lab_reaches_every_other(seed: int) -> None:
    network = build(random_plan(random.Random(seed)), str(seed))
    forwarder = Forwarder(network)

    outcomes = [
        forwarder.probe(a, address(b))
        for a in pcs(network)
        for b in pcs(network)
        if a is not b
    ]

    assert outcomes
    assert {outcome.fate for outcome in outcomes} == {Fate.REPLY}


@settings(deadline=None, max_examples=60)
@given(SEEDS, SEEDS)
def test_ping_is_symmetric_without_access_lists(seed: int, damage: int) -> None:
    network = build(random_plan(random.Random(seed)), str(seed))
    rng = random.Random(damage)
    rng.choice(list(network.links.values())).is_suspended = True
    stopped = rng.choice(list(network.nodes.values()))
    if stopped.node_type is not NodeType.VPCS:
        stopped.is_started = False
    forwarder = Forwarder(network)

    for a in pcs(network):
        for b in pcs(network):
            there = forwarder.probe(a, address(b)).fate is Fate.REPLY
            back = forwarder.probe(b, address(a)).fate is Fate.REPLY
            assert there == back


@given(
    st.lists(st.tuples(ADDRESSES, st.integers(0, 32)), max_size=30),
    ADDRESSES,
)
def test_longest_prefix_wins(
    networks: list[tuple[IPv4Address, int]], destination: IPv4Address
) -> None:
    routes = [
        routing.Route("S", IPv4Network((int(a) >> (32 - n) << (32 - n) if n else 0, n)))
        for a, n in networks
    ]

    found = routing.lookup(routes, destination)

    longest = max(
        (r.network.prefixlen for r in routes if destination in r.network), default=None
    )
    assert (found.network.prefixlen if found else None) == longest


@pytest.fixture
def network() -> Network:
    return default_lab(NO_FAULT)[0]


def ping(network: Network, source: str, destination: str, **options: int) -> object:
    outcome = Forwarder(network).probe(
        network.named(source), IPv4Address(destination), **options
    )
    return outcome.fate, outcome.sender and str(outcome.sender), outcome.icmp


def test_reply_has_lost_one_ttl_at_each_router(network: Network) -> None:
    outcome = Forwarder(network).probe(network.named("PC1"), IPv4Address("10.0.2.10"))

    assert (outcome.fate, outcome.ttl, outcome.hops) == (Fate.REPLY, 62, 3)


def test_packet_with_too_small_ttl_is_reported_by_the_router(network: Network) -> None:
    assert ping(network, "PC1", "10.0.2.10", ttl=2) == (
        Fate.ERROR,
        "10.0.12.2",
        Icmp.TTL_EXCEEDED,
    )


def test_neighbour_that_does_not_exist_is_not_resolved(network: Network) -> None:
    assert ping(network, "PC1", "10.0.1.99") == (Fate.NO_ARP, "10.0.1.99", None)


def test_router_without_a_route_says_host_unreachable(network: Network) -> None:
    assert ping(network, "PC1", "10.77.0.1") == (
        Fate.ERROR,
        "10.0.1.254",
        Icmp.HOST_UNREACHABLE,
    )


def test_routing_circle_ends_by_ttl(network: Network) -> None:
    for name, hop in (("R1", "10.0.12.2"), ("R2", "10.0.12.1")):
        router = network.named(name).router
        assert router is not None
        router.routes.append(StaticRoute(IPv4Network("10.77.0.0/16"), IPv4Address(hop)))

    fate, _, icmp = ping(network, "PC1", "10.77.0.1")

    assert (fate, icmp) == (Fate.ERROR, Icmp.TTL_EXCEEDED)


def test_route_whose_next_hop_points_at_itself_is_not_used(network: Network) -> None:
    router = network.named("R1")
    assert router.router is not None
    router.router.routes = [
        StaticRoute(IPv4Network("10.9.0.0/16"), IPv4Address("10.9.0.1"))
    ]

    assert all(route.code != "S" for route in routing.table(router))


def test_route_through_another_route_is_followed(network: Network) -> None:
    router = network.named("R1")
    assert router.router is not None
    router.router.routes.append(
        StaticRoute(IPv4Network("10.9.0.0/16"), IPv4Address("10.0.2.10"))
    )

    hop = routing.next_hop(router, IPv4Address("10.9.1.1"))

    assert hop == routing.Hop("FastEthernet0/1", IPv4Address("10.0.12.2"))


def test_proxy_arp_answers_for_a_host_that_takes_the_far_network_for_near(
    network: Network,
) -> None:
    pc, router = network.named("PC1"), network.named("R1")
    assert pc.host is not None
    assert router.router is not None
    pc.host.address = IPv4Interface("10.0.1.10/16")
    without = ping(network, "PC1", "10.0.2.10")

    router.router.interfaces["FastEthernet0/0"].has_proxy_arp = True

    assert without == (Fate.NO_ARP, "10.0.2.10", None)
    assert ping(network, "PC1", "10.0.2.10") == (Fate.REPLY, "10.0.2.10", Icmp.REPLY)


def test_both_ends_learn_by_arp(network: Network) -> None:
    forwarder = Forwarder(network)
    pc, router = network.named("PC1"), network.named("R1")

    forwarder.probe(pc, IPv4Address("10.0.1.254"))

    assert forwarder.arp[pc.node_id][IPv4Address("10.0.1.254")].mac == router.mac(
        "FastEthernet0/0"
    )
    assert forwarder.arp[router.node_id][IPv4Address("10.0.1.10")].mac == (
        pc.ports[0].mac
    )


def test_loop_of_switches_does_not_hang() -> None:
    from projects.demolab.factory import Builder

    builder = Builder("loop")
    switches = [builder.switch(f"SW{i}", 0, 0) for i in range(3)]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        builder.link(switches[a], switches[b])
    one = builder.pc("PC1", "10.0.0.1/24", "10.0.0.254", 0, 0)
    two = builder.pc("PC2", "10.0.0.2/24", "10.0.0.254", 0, 0)
    builder.link(one, switches[0])
    builder.link(two, switches[2])
    network = builder.finish()

    assert ping(network, "PC1", "10.0.0.2") == (Fate.REPLY, "10.0.0.2", Icmp.REPLY)
