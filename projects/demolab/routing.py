"""Chooses where a device sends a packet next."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from projects.demolab.model import Node, StaticRoute


@dataclass(frozen=True)
class Hop:
    interface: str
    address: IPv4Address


@dataclass(frozen=True)
class Route:
    """A line of the routing table."""

    code: str
    network: IPv4Network
    interface: str = ""
    next_hop: IPv4Address | None = None
    distance: int = 0


def next_hop(node: Node, destination: IPv4Address) -> Hop | None:
    """The interface to use and the address to ask for by ARP there."""
    if node.host is not None:
        return _host_hop(node, destination)
    if node.router is not None:
        return _router_hop(table(node), destination)
    return None


def table(node: Node) -> list[Route]:
    """The routing table: connected and local routes, and usable static ones."""
    routes: list[Route] = []
    for name, address in node.addresses():
        routes.append(Route("C", address.network, name))
        if address.network.prefixlen < 32:
            routes.append(Route("L", IPv4Network(f"{address.ip}/32"), name))
    if node.router is None:
        return routes
    connected = list(routes)
    for route in _best(node.router.routes):
        if any(known.network == route.network for known in connected):
            continue
        if route.interface and not node.is_up(route.interface):
            continue
        if route.next_hop is not None and not _is_usable(
            node.router.routes, connected, route.next_hop
        ):
            continue
        routes.append(
            Route("S", route.network, route.interface, route.next_hop, route.distance)
        )
    return routes


def lookup(routes: list[Route], destination: IPv4Address) -> Route | None:
    """The route with the longest prefix."""
    matching = [route for route in routes if destination in route.network]
    return max(matching, key=lambda route: route.network.prefixlen, default=None)


def _host_hop(node: Node, destination: IPv4Address) -> Hop | None:
    assert node.host is not None
    interface = node.ports[0].name
    address = node.address(interface)
    if address is None:
        return None
    if destination in address.network:
        return Hop(interface, destination)
    if node.host.gateway is None:
        return None
    return Hop(interface, node.host.gateway)


def _router_hop(routes: list[Route], destination: IPv4Address) -> Hop | None:
    wanted = destination
    # A next hop may itself be reached by a route; a circle never ends in a cable.
    for _ in range(8):
        route = lookup(routes, wanted)
        if route is None:
            return None
        if route.interface:
            return Hop(route.interface, route.next_hop or wanted)
        if route.next_hop is None or route.next_hop == wanted:
            return None
        wanted = route.next_hop
    return None


def _best(routes: list[StaticRoute]) -> list[StaticRoute]:
    lowest: dict[IPv4Network, int] = {}
    for route in routes:
        lowest[route.network] = min(
            route.distance, lowest.get(route.network, route.distance)
        )
    return [route for route in routes if route.distance == lowest[route.network]]


def _is_usable(
    static: list[StaticRoute], connected: list[Route], next_hop: IPv4Address
) -> bool:
    routes = connected + [
        Route("S", route.network, route.interface, route.next_hop)
        for route in static
        if route.next_hop is None or next_hop != route.next_hop
    ]
    return _router_hop(routes, next_hop) is not None
