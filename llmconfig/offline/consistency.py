"""Counts what contradicts itself in a network: the less, the likelier."""

from ipaddress import IPv4Interface, IPv4Network
from itertools import combinations

from llmconfig.offline.network import Device, End, Network, Role
from llmconfig.offline.topology_graph import next_towards


def contradictions(network: Network) -> int:
    """Statements of the configurations that don't agree with one another."""
    segments = network.live_segments()
    return (
        sum(_within(network, segment) for segment in segments)
        + _between(network, segments)
        + sum(_gateway(network, host) for host in network.of_role(Role.HOST))
        + sum(_routes(network, router) for router in network.of_role(Role.ROUTER))
        + sum(wire.is_suspended for wire in network.wires)
        + sum(not device.is_started for device in network.devices.values())
        + sum(
            interface.is_shut
            for device in network.devices.values()
            for interface in device.addressed
        )
    )


def _addresses(network: Network, segment: frozenset[End]) -> list[IPv4Interface]:
    found = []
    for name, port in sorted(segment):
        interface = network.devices[name].interface(port)
        if interface and interface.address:
            found.append(interface.address)
    return found


def _within(network: Network, segment: frozenset[End]) -> int:
    """Pairs on one cable that disagree about its subnet or share an address."""
    pairs = combinations(_addresses(network, segment), 2)
    return sum((a.network != b.network) + (a.ip == b.ip) for a, b in pairs)


def _between(network: Network, segments: list[frozenset[End]]) -> int:
    """Pairs of separate cables whose subnets overlap."""
    subnets = [{a.network for a in _addresses(network, s)} for s in segments]
    return sum(
        any(left.overlaps(right) for left in a for right in b)
        for a, b in combinations(subnets, 2)
    )


def _gateway(network: Network, host: Device) -> int:
    if host.gateway is None or not host.addressed or not host.is_started:
        return 0
    own = host.addressed[0]
    owners = network.owners((host.name, own.port), host.gateway)
    is_inside = own.address is not None and host.gateway in own.address.network
    is_router = any(device.role is Role.ROUTER for device, _ in owners)
    return (not is_inside) + (not is_router)


def _routes(network: Network, router: Device) -> int:
    if not router.is_started:
        return 0
    known = {
        i.address.network
        for device in network.devices.values()
        for i in device.addressed
        if i.address
    }
    count = 0
    for route in router.routes:
        if not route.is_static or route.next_hop is None:
            continue
        count += not any(
            network.owners((router.name, i.port), route.next_hop)
            for i in router.addressed
            if i.address and route.next_hop in i.address.network
        )
        if route.network.prefixlen == 0:
            continue
        count += not any(subnet.subnet_of(route.network) for subnet in known)
        wanted = next_towards(network, router.name, route.network)
        count += bool(wanted) and route.next_hop not in {a for _, a in wanted}
    return count


def position_oddity(network: Network) -> int:
    """How far router addresses lie from the ends of their subnets."""
    return sum(
        _position(interface.address)
        for router in network.of_role(Role.ROUTER)
        for interface in router.addressed
        if interface.address
    )


def range_oddity(network: Network) -> int:
    """How far the subnets lie apart."""
    subnets = {
        interface.address.network
        for device in network.devices.values()
        for interface in device.addressed
        if interface.address
    }
    return sum(_distance(a, b) for a, b in combinations(subnets, 2))


def _position(address: IPv4Interface) -> int:
    """0 for the first or last address of a subnet, more towards its middle."""
    first = int(address.ip) - int(address.network.network_address)
    last = int(address.network.broadcast_address) - int(address.ip)
    return min(max(min(first, last) - 1, 0), 10)


def _distance(a: IPv4Network, b: IPv4Network) -> int:
    """Bits by which two subnets differ, coarse."""
    different = int(a.network_address) ^ int(b.network_address)
    return different.bit_length() // 4
