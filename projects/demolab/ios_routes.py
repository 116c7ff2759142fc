"""Routing tables as routers print them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from projects.demolab.routing import Route, lookup

CODES = """\
Codes: L - local, C - connected, S - static, R - RIP, M - mobile, B - BGP
       D - EIGRP, EX - EIGRP external, O - OSPF, IA - OSPF inter area
       N1 - OSPF NSSA external type 1, N2 - OSPF NSSA external type 2
       E1 - OSPF external type 1, E2 - OSPF external type 2
       i - IS-IS, su - IS-IS summary, L1 - IS-IS level-1, L2 - IS-IS level-2
       ia - IS-IS inter area, * - candidate default, U - per-user static route
       o - ODR, P - periodic downloaded static route, H - NHRP, l - LISP
       + - replicated route, % - next hop override
"""


def table(routes: list[Route]) -> str:
    """The answer to `show ip route`."""
    default = next((r for r in routes if r.network.prefixlen == 0), None)
    if default is None:
        resort = "Gateway of last resort is not set\n"
    else:
        target = default.next_hop or "0.0.0.0"
        resort = f"Gateway of last resort is {target} to network 0.0.0.0\n"
    return "\n".join([CODES, resort, *_lines(routes)]) + "\n"


def detail(routes: list[Route], address: IPv4Address) -> str:
    route = lookup(routes, address)
    if route is None or route.network.prefixlen == 0:
        known = any(
            r.network.subnet_of(_major(IPv4Network(f"{address}/32")))
            for r in routes
            if r.network.prefixlen
        )
        return f"% {'Subnet' if known else 'Network'} not in table\n"
    if route.code == "S":
        kind = f'"static", distance {route.distance}, metric 0'
        via = route.next_hop or f"directly connected, via {route.interface}"
    else:
        kind = '"connected", distance 0, metric 0 (connected, via interface)'
        via = f"directly connected, via {route.interface}"
    return (
        f"Routing entry for {route.network}\n"
        f"  Known via {kind}\n"
        f"  Routing Descriptor Blocks:\n"
        f"  * {via}\n"
        f"      Route metric is 0, traffic share count is 1\n"
    )


def _lines(routes: list[Route]) -> list[str]:
    """The table grouped by classful network, as routers print it."""
    lines = []
    majors: dict[IPv4Network, list[Route]] = {}
    for route in sorted(routes, key=lambda r: (r.network, r.code)):
        majors.setdefault(_major(route.network), []).append(route)
    for major, members in majors.items():
        masks = {route.network.prefixlen for route in members}
        is_plain = masks == {major.prefixlen}
        is_variable = len(masks) > 1
        count = len({route.network for route in members})
        subnets = f"{count} subnet{'s' if count > 1 else ''}"
        if is_variable:
            lines.append(
                f"      {major} is variably subnetted, {subnets}, {len(masks)} masks"
            )
        elif not is_plain:
            first = members[0].network.prefixlen
            lines.append(
                f"      {major.network_address}/{first} is subnetted, {subnets}"
            )
        lines += [
            _route_line(route, is_plain=is_plain, is_variable=is_variable)
            for route in members
        ]
    return lines


def _route_line(route: Route, *, is_plain: bool, is_variable: bool) -> str:
    code = "S*" if route.network.prefixlen == 0 else route.code
    lead = f"{code:<6}" if is_plain else f"{code:<9}"
    network = (
        str(route.network)
        if is_plain or is_variable
        else str(route.network.network_address)
    )
    metric = f" [{route.distance}/0]" if route.code == "S" and route.next_hop else ""
    if route.next_hop is None:
        return f"{lead}{network} is directly connected, {route.interface}"
    via = f" via {route.next_hop}"
    return f"{lead}{network}{metric}{via}" + (
        f", {route.interface}" if route.interface else ""
    )


def _major(network: IPv4Network) -> IPv4Network:
    if network.prefixlen == 0:
        return network
    first = int(network.network_address) >> 24
    length = 8 if first < 128 else 16 if first < 192 else 24
    if network.prefixlen < length:
        return network
    return network.supernet(new_prefix=length)
