"""The faults that can be planted between two PCs of a lab."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface

from projects.demolab import access_lists
from projects.demolab.model import (
    AccessEntry,
    AccessList,
    Action,
    Link,
    Node,
    StaticRoute,
)
from projects.demolab.scene import Scene, host_of, interface_of, own, router_of


@dataclass(frozen=True)
class Planted:
    """Where the fault is, and the cause in one sentence."""

    device: str
    cause: str


@dataclass(frozen=True)
class Fault:
    summary: str
    plant: Callable[[Scene], Planted | None]


def wrong_gateway(scene: Scene) -> Planted | None:
    pc = scene.pick_pc()
    right = host_of(pc).gateway
    wrong = scene.free_address(own(pc).network)
    if wrong is None:
        return None
    host_of(pc).gateway = wrong
    return Planted(
        pc.name,
        f"{pc.name} uses the gateway {wrong}, which no device has; "
        f"the router's address is {right}.",
    )


def missing_gateway(scene: Scene) -> Planted | None:
    pc = scene.pick_pc()
    right = host_of(pc).gateway
    host_of(pc).gateway = None
    return Planted(pc.name, f"{pc.name} has no gateway; it should be {right}.")


def wrong_mask(scene: Scene) -> Planted | None:
    """A mask so short that the PC takes the far network for its own."""
    pc = scene.pick_pc()
    other = scene.target if pc is scene.source else scene.source
    right = own(pc)
    prefix = right.network.prefixlen
    while own(other).ip not in IPv4Interface(f"{right.ip}/{prefix}").network:
        prefix -= 1
    if prefix < 8:
        return None
    wrong = IPv4Interface(f"{right.ip}/{prefix}")
    host_of(pc).address = wrong
    return Planted(
        pc.name,
        f"{pc.name} has the mask /{prefix} instead of /{right.network.prefixlen}, "
        f"so it takes {own(other).ip} for a neighbour and never asks its gateway.",
    )


def wrong_subnet(scene: Scene) -> Planted | None:
    pc = scene.pick_pc()
    right = own(pc)
    network = scene.other_network(right.network)
    gateway = host_of(pc).gateway
    if network is None or gateway is None:
        return None
    base = int(right.network.network_address)
    moved = network[int(right.ip) - base]
    host_of(pc).address = IPv4Interface(f"{moved}/{network.prefixlen}")
    host_of(pc).gateway = network[int(gateway) - base]
    return Planted(
        pc.name,
        f"{pc.name} has the address {moved}/{network.prefixlen}, which is not in "
        f"the network of its cable, {right.network}.",
    )


def duplicate_address(scene: Scene) -> Planted | None:
    pc = scene.pick_pc()
    peers = scene.peers(pc)
    if not peers:
        return None
    impostor = scene.rng.choice(peers)
    gateway = host_of(pc).gateway
    assert gateway is not None
    router, _ = scene.gateway_of(pc)
    taken, owner = scene.rng.choice(((gateway, router), (own(pc).ip, pc)))
    prefix = own(pc).network.prefixlen
    host_of(impostor).address = IPv4Interface(f"{taken}/{prefix}")
    # Without a gateway its answers never leave the cable.
    host_of(impostor).gateway = None
    return Planted(
        impostor.name,
        f"{impostor.name} uses {taken}, which belongs to {owner.name}; "
        f"the duplicate address takes its traffic.",
    )


def interface_down(scene: Scene) -> Planted | None:
    router, way_in, way_out = scene.rng.choice(scene.path())
    name = scene.rng.choice((way_in, way_out))
    interface_of(router, name).is_shutdown = True
    return Planted(router.name, f"{name} of {router.name} is administratively down.")


def wrong_interface_address(scene: Scene) -> Planted | None:
    pc = scene.pick_pc()
    router, name = scene.gateway_of(pc)
    interface = interface_of(router, name)
    right = own(pc)
    gateway = host_of(pc).gateway
    assert gateway is not None
    wrong: IPv4Address | None
    # Within the network only a second PC with the right gateway shows who is wrong.
    if scene.peers(pc) and scene.rng.random() < 0.5:
        network, wrong = right.network, scene.free_address(right.network)
    else:
        found = scene.other_network(right.network)
        if found is None or not scene.is_confirmed(pc, router):
            return None
        network = found
        wrong = network[int(gateway) - int(right.network.network_address)]
    if wrong is None:
        return None
    interface.address = IPv4Interface(f"{wrong}/{network.prefixlen}")
    return Planted(
        router.name,
        f"{name} of {router.name} has the address {wrong}/{network.prefixlen} "
        f"instead of {gateway}/{right.network.prefixlen}.",
    )


def _used_route(router: Node, address: IPv4Address) -> StaticRoute | None:
    """None where the address is on a cable of the router: no route is used."""
    if any(address in cable.network for _, cable in router.addresses()):
        return None
    matching = [r for r in router_of(router).routes if address in r.network]
    return max(matching, key=lambda r: r.network.prefixlen, default=None)


def _drop_route(scene: Scene, *, is_back: bool) -> Planted | None:
    goal = scene.source if is_back else scene.target
    candidates = [
        (router, route)
        for router, _, _ in scene.path(is_back=is_back)
        if (route := _used_route(router, own(goal).ip)) is not None
    ]
    if not candidates:
        return None
    router, route = scene.rng.choice(candidates)
    router_of(router).routes.remove(route)
    way = "back to" if is_back else "to"
    return Planted(
        router.name,
        f"{router.name} has no route {way} {own(goal).network}, "
        f"the network of {goal.name}.",
    )


def missing_route(scene: Scene) -> Planted | None:
    return _drop_route(scene, is_back=False)


def missing_return_route(scene: Scene) -> Planted | None:
    return _drop_route(scene, is_back=True)


def wrong_next_hop(scene: Scene) -> Planted | None:
    is_back = scene.rng.random() < 0.5
    goal = scene.source if is_back else scene.target
    candidates = [
        (router, way_out, route)
        for router, _, way_out in scene.path(is_back=is_back)
        if (route := _used_route(router, own(goal).ip)) is not None
    ]
    if not candidates:
        return None
    router, way_out, route = scene.rng.choice(candidates)
    address = router.address(way_out)
    wrong = scene.free_address(address.network) if address else None
    if wrong is None:
        # A /30 is full: point the route at another cable of the router.
        others = [
            other.network for name, other in router.addresses() if name != way_out
        ]
        wrong = scene.free_address(scene.rng.choice(others)) if others else None
    if wrong is None:
        return None
    routes = router_of(router).routes
    routes[routes.index(route)] = replace(route, next_hop=wrong)
    return Planted(
        router.name,
        f"The route of {router.name} to {route.network} points to {wrong}, "
        f"where no router is, instead of {route.next_hop}.",
    )


def acl_blocks(scene: Scene) -> Planted | None:
    is_back = scene.rng.random() < 0.3
    router, way_in, way_out = scene.rng.choice(scene.path(is_back=is_back))
    start, goal = scene.source, scene.target
    if is_back:
        start, goal = goal, start
    name = scene.rng.choice(("100", "101", "110", "150", "BLOCK", "SECURITY"))
    deny = AccessEntry(
        Action.DENY,
        access_lists.from_network(own(start).network),
        scene.rng.choice(("ip", "icmp")),
        access_lists.from_network(own(goal).network),
        sequence=10,
    )
    permit = AccessEntry(
        Action.PERMIT, access_lists.ANYWHERE, "ip", access_lists.ANYWHERE, sequence=20
    )
    router_of(router).access_lists[name] = AccessList(True, [deny, permit])
    if scene.rng.random() < 0.5:
        port, direction = way_in, "in"
        interface_of(router, port).access_in = name
    else:
        port, direction = way_out, "out"
        interface_of(router, port).access_out = name
    line = access_lists.text(deny, is_extended=True)
    return Planted(
        router.name,
        f"Access list {name} on {port} ({direction}) of {router.name} "
        f"blocks the traffic: {line}.",
    )


def node_stopped(scene: Scene) -> Planted | None:
    routers = [router for router, _, _ in scene.path()]
    node = scene.rng.choice([scene.target, *routers])
    node.is_started = False
    return Planted(node.name, f"{node.name} is not started.")


def _link_on_path(scene: Scene) -> tuple[Link, str] | None:
    ports = [(scene.source, scene.source.ports[0].name)]
    ports += [(router, way_out) for router, _, way_out in scene.path()]
    ports.append((scene.target, scene.target.ports[0].name))
    node, name = scene.rng.choice(ports)
    port = node.port(name)
    link = scene.network.link_at(node, port) if port else None
    if link is None:
        return None
    names = [scene.network.nodes[end.node_id].name for end in link.ends]
    return link, " and ".join(names)


def link_suspended(scene: Scene) -> Planted | None:
    found = _link_on_path(scene)
    if found is None:
        return None
    found[0].is_suspended = True
    return Planted(found[1].split(" ")[0], f"The link between {found[1]} is suspended.")


def link_missing(scene: Scene) -> Planted | None:
    found = _link_on_path(scene)
    if found is None:
        return None
    del scene.network.links[found[0].link_id]
    return Planted(found[1].split(" ")[0], f"The link between {found[1]} is missing.")


FAULTS: dict[str, Fault] = {
    "wrong_gateway": Fault("a PC uses a gateway that no device has", wrong_gateway),
    "missing_gateway": Fault("a PC has no gateway", missing_gateway),
    "wrong_mask": Fault("a PC's mask covers the far network", wrong_mask),
    "wrong_subnet": Fault("a PC has an address of another network", wrong_subnet),
    "duplicate_address": Fault("two devices use one address", duplicate_address),
    "interface_down": Fault("a router interface is shut down", interface_down),
    "wrong_interface_address": Fault(
        "a router interface has a wrong address", wrong_interface_address
    ),
    "missing_route": Fault("a router on the way has no route", missing_route),
    "wrong_next_hop": Fault("a route points to the wrong next hop", wrong_next_hop),
    "missing_return_route": Fault(
        "a router has no route for the answers", missing_return_route
    ),
    "acl_blocks": Fault("an access list blocks the traffic", acl_blocks),
    "node_stopped": Fault("a device on the way is not started", node_stopped),
    "link_suspended": Fault("a link on the way is suspended", link_suspended),
    "link_missing": Fault("a link on the way is missing", link_missing),
}
