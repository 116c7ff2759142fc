"""Changes of a router that might mend a trip."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from llmconfig.offline.faults import Fault, Finding, Fix, Repair
from llmconfig.offline.forwarding import lookup
from llmconfig.offline.network import (
    Device,
    End,
    Interface,
    Network,
    Role,
    Route,
    first_quotes,
)
from llmconfig.offline.quotes import Quote
from llmconfig.offline.repair_hosts import set_interface_address
from llmconfig.offline.topology_graph import next_towards
from llmconfig.offline.walk import Failure, Stop, Trip

Claim = tuple[IPv4Interface, Device, Quote | None]


def interface_repairs(network: Network) -> Iterator[Repair]:
    """The address or mask that the neighbours on the cable expect."""
    for router in network.of_role(Role.ROUTER):
        for interface in router.interfaces:
            end = (router.name, interface.port)
            yield from _claimed(network, router, interface, end)
            yield from _mask(network, router, interface, end)


def _claimed(
    network: Network, router: Device, interface: Interface, end: End
) -> Iterator[Repair]:
    """Without a PC's word, a mistyped route is likelier than a mistyped address."""
    claims = [c for c in _claims(network, end) if c[0] != interface.address]
    for address in dict.fromkeys(claim[0] for claim in claims):
        by = [claim for claim in claims if claim[0] == address]
        facts = {
            "device": router.name,
            "interface": interface.name,
            "address": str(interface.address or "unassigned"),
            "right": str(address),
            "other": ", ".join(dict.fromkeys(device.name for _, device, _ in by)),
        }
        quotes = [*interface.shown("address"), *(quote for _, _, quote in by[:3])]
        yield Repair(
            Finding(
                Fault.WRONG_INTERFACE_ADDRESS
                if interface.address
                else Fault.NO_INTERFACE_ADDRESS,
                router.name,
                facts,
                first_quotes(quotes),
                set_interface_address(router.name, interface, address),
            ),
            network.with_interface(router.name, replace(interface, address=address)),
            rank=0 if any(device.role is Role.HOST for _, device, _ in by) else 1,
        )


def _claims(network: Network, end: End) -> Iterator[Claim]:
    """Addresses that others on the cable expect there and nobody has."""
    for device, other in network.members(end):
        if device.name == end[0] or other.address is None:
            continue
        for wanted, quote in _expected(device):
            if wanted not in other.address.network:
                continue
            if not network.owners((device.name, other.port), wanted):
                length = other.address.network.prefixlen
                yield IPv4Interface(f"{wanted}/{length}"), device, quote


def _expected(device: Device) -> Iterator[tuple[IPv4Address, Quote | None]]:
    if device.role is Role.HOST and device.gateway:
        yield device.gateway, device.quotes.get("gateway")
    for route in device.routes:
        if route.next_hop:
            yield route.next_hop, route.quote


def _mask(
    network: Network, router: Device, interface: Interface, end: End
) -> Iterator[Repair]:
    own = interface.address
    if own is None:
        return
    for device, other in network.members(end):
        right = other.address
        if device.name == router.name or right is None or own.ip not in right.network:
            continue
        if right.network.prefixlen == own.network.prefixlen:
            continue
        changed = IPv4Interface(f"{own.ip}/{right.network.prefixlen}")
        facts = {
            "device": router.name,
            "mask": f"/{own.network.prefixlen}",
            "right": f"/{right.network.prefixlen}",
            "other": device.name,
            "interface": other.name,
            "address": str(own),
            "subnet": str(own.network),
        }
        quotes = [*interface.shown("address"), *other.shown("address")]
        yield Repair(
            Finding(
                Fault.WRONG_MASK,
                router.name,
                facts,
                first_quotes(quotes),
                set_interface_address(router.name, interface, changed),
            ),
            network.with_interface(router.name, replace(interface, address=changed)),
        )


def route_repairs(network: Network, trip: Trip) -> Iterator[Repair]:
    """Another next hop, or a route, for each router on the way that failed."""
    failed = trip.back or trip.there
    wanted = trip.source if trip.is_return else trip.destination
    if wanted is None:
        return
    subnet = subnet_of(network, wanted)
    if subnet is None:
        return
    for name in dict.fromkeys(failed.hops):
        router = network.devices[name]
        if router.role is not Role.ROUTER or not router.is_known:
            continue
        for other, hop in next_towards(network, name, subnet):
            yield from _route(network, router, (wanted, subnet), (other, hop), trip)


def subnet_of(network: Network, address: IPv4Address) -> IPv4Network | None:
    """The subnet of an address as its router sees it, else as its owner does."""
    found = [
        (device.role is not Role.ROUTER, interface.address.network)
        for device in network.devices.values()
        for interface in device.addressed
        if interface.address and address in interface.address.network
    ]
    return min(found, key=lambda item: item[0])[1] if found else None


def _route(
    network: Network,
    router: Device,
    goal: tuple[IPv4Address, IPv4Network],
    via: tuple[str, IPv4Address],
    trip: Trip,
) -> Iterator[Repair]:
    address, subnet = goal
    matching = [r for r in router.routes if r.is_static and address in r.network]
    best = max(matching, key=lambda route: route.network.prefixlen, default=None)
    if best and best.next_hop and best.next_hop != via[1]:
        yield _redirect(network, router, best, via, address)
    is_default = best is not None and best.network.prefixlen == 0
    if (best is None or is_default) and not _is_connected(router, address):
        yield _add(network, router, subnet, via, (address, trip.is_return))


def _is_connected(router: Device, address: IPv4Address) -> bool:
    chosen = lookup(router, address)
    return chosen is not None and chosen[2] is None


def _redirect(
    network: Network,
    router: Device,
    route: Route,
    via: tuple[str, IPv4Address],
    address: IPv4Address,
) -> Repair:
    other, hop = via
    target = f"{route.network.network_address} {route.network.netmask}"
    facts = {
        "device": router.name,
        "subnet": str(route.network),
        "next_hop": str(route.next_hop),
        "right": str(hop),
        "other": other,
        "address": str(address),
    }
    fix = (
        "configure terminal",
        f"no {route.quote.line}"
        if route.quote.line.startswith("ip route")
        else f"no ip route {target} {route.next_hop}",
        f"ip route {target} {hop}",
        "end",
    )
    quotes = [route.quote, *_address_quotes(network, other, hop)]
    routes = tuple(
        replace(r, next_hop=hop, port="") if r == route else r for r in router.routes
    )
    return Repair(
        Finding(
            Fault.WRONG_NEXT_HOP,
            router.name,
            facts,
            first_quotes(quotes),
            Fix(router.name, fix),
        ),
        network.with_device(replace(router, routes=routes)),
    )


def _add(
    network: Network,
    router: Device,
    subnet: IPv4Network,
    via: tuple[str, IPv4Address],
    goal: tuple[IPv4Address, bool],
) -> Repair:
    other, hop = via
    address, is_return = goal
    fault = Fault.MISSING_RETURN_ROUTE if is_return else Fault.MISSING_ROUTE
    facts = {
        "device": router.name,
        "subnet": str(subnet),
        "address": str(address),
        "right": str(hop),
        "other": other,
    }
    line = f"ip route {subnet.network_address} {subnet.netmask} {hop}"
    quotes = [
        router.quotes.get("last_resort"),
        *(route.quote for route in router.routes[:4]),
        *_address_quotes(network, other, hop),
    ]
    route = Route(subnet, hop, "", True, Quote("", "", ""))
    return Repair(
        Finding(
            fault,
            router.name,
            facts,
            first_quotes(quotes),
            Fix(router.name, ("configure terminal", line, "end")),
        ),
        network.with_device(replace(router, routes=(*router.routes, route))),
    )


def _address_quotes(network: Network, name: str, address: IPv4Address) -> list[Quote]:
    for interface in network.devices[name].addressed:
        if interface.address and interface.address.ip == address:
            return interface.shown("address")
    return []


def acl_repairs(network: Network, failure: Failure) -> Iterator[Repair]:
    """Take the access list off the interface where it drops the packet."""
    interface = failure.interface
    if failure.stop is not Stop.ACL or interface is None:
        return
    is_in = failure.direction == "in"
    name = interface.acl_in if is_in else interface.acl_out
    facts = {
        "device": failure.device,
        "interface": interface.name,
        "acl": name,
        "direction": failure.direction,
        "rule": failure.rule.line if failure.rule else "deny ip any any (implicit)",
        "address": str(failure.address),
    }
    quotes = interface.shown(failure.direction)
    if failure.rule:
        quotes.append(Quote(failure.device, failure.rule.command, failure.rule.line))
    else:
        rules = network.devices[failure.device].acls.get(name, ())
        quotes += [Quote(failure.device, rule.command, rule.line) for rule in rules[:4]]
    opened = replace(interface, acl_in="") if is_in else replace(interface, acl_out="")
    commands = (
        "configure terminal",
        f"interface {interface.name}",
        f"no ip access-group {name} {failure.direction}",
        "end",
    )
    yield Repair(
        Finding(
            Fault.ACL_BLOCKS,
            failure.device,
            facts,
            first_quotes(quotes),
            Fix(failure.device, commands),
        ),
        network.with_interface(failure.device, opened),
    )
