"""Builds labs with one fault: the default one, and random ones by seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from projects.demolab import faults
from projects.demolab.factory import Builder
from projects.demolab.forwarding import Fate, Forwarder
from projects.demolab.model import Network, Node, StaticRoute
from projects.demolab.plans import Plan, random_plan
from projects.demolab.scene import Scene

DEFAULT_FAULT = "missing_return_route"
NO_FAULT = "none"
# Each try varies the lab; far fewer are ever needed.
MAX_TRIES = 300


@dataclass(frozen=True)
class Truth:
    """What was planted, and the question that it answers."""

    fault: str
    seed: int | None
    question: str
    device: str
    cause: str


def default_lab(fault: str = DEFAULT_FAULT) -> tuple[Network, Truth]:
    """Two PCs behind two routers; the same every time."""
    for attempt in range(MAX_TRIES):
        network, source, target = _default_network(
            has_spare=fault == "duplicate_address"
        )
        found = _plant(network, source, target, fault, random.Random(attempt))
        if found is not None:
            return network, _truth(source, target, fault, None, found)
    raise ValueError(f"The fault {fault} does not fit the default lab.")


def random_lab(seed: int, fault: str | None = None) -> tuple[Network, Truth]:
    """A lab that depends on the seed alone."""
    wanted = fault or random.Random(f"fault/{seed}").choice(sorted(faults.FAULTS))
    for attempt in range(MAX_TRIES):
        rng = random.Random(f"{seed}/{wanted}/{attempt}")
        plan = random_plan(rng)
        network = build(plan, f"{seed}/{wanted}/{attempt}")
        source, target = (network.named(name) for name in plan.pair)
        found = _plant(network, source, target, wanted, rng)
        if found is not None:
            return network, _truth(source, target, wanted, seed, found)
    raise ValueError(f"No lab with the fault {wanted} was found for seed {seed}.")


def reaches(network: Network, source: Node, target: Node) -> bool:
    """Whether the target answers the source's ping."""
    if target.host is None or target.host.address is None:
        return False
    outcome = Forwarder(network).probe(source, target.host.address.ip)
    return outcome.fate is Fate.REPLY


def build(plan: Plan, namespace: str) -> Network:
    """Turn a plan into nodes, links and configurations."""
    builder = Builder(namespace)
    routers = [
        builder.router(name, 200 * index - 100, 0)
        for index, name in enumerate(plan.routers)
    ]
    ports = {router.node_id: iter(router.ports) for router in routers}

    for lan in plan.lans:
        router = routers[lan.router]
        port = next(ports[router.node_id]).name
        gateway = IPv4Interface(f"{lan.gateway}/{lan.network.prefixlen}")
        builder.interface(router, port, gateway, lan.description)
        x = 200 * lan.router - 100 + lan.shift
        switch = builder.switch(lan.switch, x, 120)
        builder.link(switch, router, "", port)
        for index, (name, address) in enumerate(lan.hosts):
            own = f"{address}/{lan.network.prefixlen}"
            pc = builder.pc(name, own, str(lan.gateway), x + 90 * index - 45, 240)
            builder.link(pc, switch)

    for transit in plan.transits:
        ends = []
        for end, address in zip(transit.routers, transit.addresses, strict=True):
            router = routers[end]
            port = next(ports[router.node_id]).name
            mask = transit.network.prefixlen
            builder.interface(router, port, IPv4Interface(f"{address}/{mask}"))
            ends.append((router, port))
        (a, port_a), (b, port_b) = ends
        builder.link(a, b, port_a, port_b)

    for index, routes in enumerate(plan.routes()):
        for network, next_hop in routes:
            builder.route(routers[index], StaticRoute(network, next_hop))

    built = builder.finish()
    for index, (node_type, name) in enumerate(plan.extras):
        builder.spare(node_type, name, 200 * index, -160)
    return built


def _default_network(*, has_spare: bool) -> tuple[Network, Node, Node]:
    plan = Plan.default(has_spare=has_spare)
    network = build(plan, "default")
    return network, network.named("PC1"), network.named("PC2")


def _plant(
    network: Network, source: Node, target: Node, fault: str, rng: random.Random
) -> faults.Planted | None:
    """Plant a fault and prove that it, and nothing else, breaks the ping."""
    if not (reaches(network, source, target) and reaches(network, target, source)):
        return None
    if fault == NO_FAULT:
        return faults.Planted("", "Nothing is wrong.")
    wanted = {_address(target)}
    planted = faults.FAULTS[fault].plant(Scene(network, source, target, rng))
    if planted is None:
        return None
    for node in network.nodes.values():
        node.save()
    # Neither the address the target should have nor the one it has may answer.
    if target.host is not None and target.host.address is not None:
        wanted.add(target.host.address.ip)
    forwarder = Forwarder(network)
    if any(forwarder.probe(source, ip).fate is Fate.REPLY for ip in wanted):
        return None
    return planted


def _address(node: Node) -> IPv4Address:
    assert node.host is not None
    assert node.host.address is not None
    return node.host.address.ip


def _truth(
    source: Node, target: Node, fault: str, seed: int | None, planted: faults.Planted
) -> Truth:
    question = f"Why can't {source.name} reach {target.name}?"
    return Truth(fault, seed, question, planted.device, planted.cause)
