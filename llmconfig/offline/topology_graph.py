"""Which router is next to which, and which way leads to a subnet."""

from collections import deque
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from llmconfig.offline.network import Network, Role


def neighbours(network: Network, router: str) -> list[tuple[str, IPv4Address]]:
    """The routers on the same cables, with their addresses there."""
    known = network.neighbours_of
    if router not in known:
        known[router] = list(dict.fromkeys(_neighbours(network, router)))
    return known[router]


def _neighbours(network: Network, router: str) -> Iterator[tuple[str, IPv4Address]]:
    for interface in network.devices[router].interfaces:
        for device, other in network.members((router, interface.port)):
            if device.name != router and device.role is Role.ROUTER and other.address:
                yield device.name, other.address.ip


def attached(network: Network, subnet: IPv4Network) -> set[str]:
    """The routers with an interface that is up in this subnet."""
    return {
        router.name
        for router in network.of_role(Role.ROUTER)
        for interface in router.addressed
        if router.is_started
        and not interface.is_down
        and interface.address
        and interface.address.network.overlaps(subnet)
    }


def next_towards(
    network: Network, router: str, subnet: IPv4Network
) -> list[tuple[str, IPv4Address]]:
    """The neighbours of a router that lie on a shortest way to the subnet."""
    distances = network.distances_to.get(subnet)
    if distances is None:
        distances = _distances(network, attached(network, subnet))
        network.distances_to[subnet] = distances
    own = distances.get(router)
    if own is None or own == 0:
        return []
    return [
        (name, address)
        for name, address in neighbours(network, router)
        if distances.get(name) == own - 1
    ]


def _distances(network: Network, goals: set[str]) -> dict[str, int]:
    found = dict.fromkeys(goals, 0)
    queue = deque(goals)
    while queue:
        name = queue.popleft()
        for other, _ in neighbours(network, name):
            if other not in found:
                found[other] = found[name] + 1
                queue.append(other)
    return found
