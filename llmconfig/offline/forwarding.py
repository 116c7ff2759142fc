"""Chooses the port and the next address as a router does."""

from ipaddress import IPv4Address

from llmconfig.offline.network import Device, Route

MAX_RECURSION = 4


def lookup(
    device: Device, destination: IPv4Address
) -> tuple[str, IPv4Address, Route | None] | None:
    """The port and next address that a router chooses, with the route it used."""
    connected = _connected(device, destination)
    usable = [
        (route.network.prefixlen, found[0], found[1], route)
        for route in device.routes
        if destination in route.network and (found := _resolve(device, route))
    ]
    best = max(usable, key=lambda item: item[0], default=None)
    if connected and (best is None or connected[0] >= best[0]):
        return connected[1], destination, None
    if best is None:
        return None
    return best[1], best[2] or destination, best[3]


def _connected(device: Device, destination: IPv4Address) -> tuple[int, str] | None:
    found = [
        (interface.address.network.prefixlen, interface.port)
        for interface in device.addressed
        if interface.address
        and not interface.is_down
        and destination in interface.address.network
    ]
    return max(found, default=None)


def _resolve(
    device: Device, route: Route, depth: int = 0
) -> tuple[str, IPv4Address | None] | None:
    """The port that a route uses now; None while it is not in the table."""
    if route.next_hop is None or route.port:
        interface = device.interface(route.port)
        is_usable = interface is not None and not interface.is_down
        return (route.port, route.next_hop) if is_usable else None
    connected = _connected(device, route.next_hop)
    if connected:
        return connected[1], route.next_hop
    # A next hop may itself be reached by a route; a circle never ends in a cable.
    via = [
        other
        for other in device.routes
        if route.next_hop in other.network and other.next_hop != route.next_hop
    ]
    if not via or depth > MAX_RECURSION:
        return None
    best = max(via, key=lambda other: other.network.prefixlen)
    return _resolve(device, best, depth + 1)
