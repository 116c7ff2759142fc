"""Changes of a PC that might mend a trip."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from llmconfig.offline.faults import Fault, Finding, Fix, Repair
from llmconfig.offline.network import Device, Interface, Network, Role, first_quotes
from llmconfig.offline.walk import Failure

Neighbour = tuple[Device, Interface]


def host_repairs(network: Network, name: str) -> Iterator[Repair]:
    """Another gateway, mask or address, as the neighbours on its cable suggest."""
    host = network.devices[name]
    if host.role is not Role.HOST or not host.interfaces:
        return
    own = host.interfaces[0]
    others = [
        (device, interface)
        for device, interface in network.members((name, own.port))
        if device.name != name
    ]
    routers = [pair for pair in others if pair[0].role is Role.ROUTER]
    for other in routers:
        yield from _gateway(network, host, own, other)
    for other in routers or others:
        yield from _address(network, host, own, other)
        yield from _mask(network, host, own, other)


def _gateway(
    network: Network, host: Device, own: Interface, other: Neighbour
) -> Iterator[Repair]:
    router, interface = other
    right = interface.address
    if own.address is None or right is None or host.gateway == right.ip:
        return
    if right.ip not in own.address.network:
        return
    facts = {
        "device": host.name,
        "gateway": str(host.gateway or "0.0.0.0"),
        "right": str(right.ip),
        "router": router.name,
        "interface": interface.name,
    }
    fault = Fault.WRONG_GATEWAY if host.gateway else Fault.MISSING_GATEWAY
    yield Repair(
        Finding(
            fault,
            host.name,
            facts,
            first_quotes([host.quotes.get("gateway"), *interface.shown("address")]),
            _set_address(host.name, own.address, right.ip),
        ),
        network.with_device(replace(host, gateway=right.ip)),
    )


def _mask(
    network: Network, host: Device, own: Interface, other: Neighbour
) -> Iterator[Repair]:
    device, interface = other
    right = interface.address
    if own.address is None or right is None or own.address.ip not in right.network:
        return
    if own.address.network.prefixlen == right.network.prefixlen:
        return
    changed = IPv4Interface(f"{own.address.ip}/{right.network.prefixlen}")
    facts = {
        "device": host.name,
        "mask": f"/{own.address.network.prefixlen}",
        "right": f"/{right.network.prefixlen}",
        "other": device.name,
        "interface": interface.name,
        "address": str(own.address),
        "subnet": str(own.address.network),
    }
    quotes = [*own.shown("address"), *interface.shown("address")]
    fix = _set_address(host.name, changed, host.gateway)
    yield Repair(
        Finding(Fault.WRONG_MASK, host.name, facts, first_quotes(quotes), fix),
        network.with_interface(host.name, replace(own, address=changed)),
    )


def _address(
    network: Network, host: Device, own: Interface, other: Neighbour
) -> Iterator[Repair]:
    router, interface = other
    right = interface.address
    if right is None or (own.address and own.address.ip in right.network):
        return
    changed = free_address(network, right.network, own.address)
    if changed is None:
        return
    facts = {
        "device": host.name,
        "address": str(own.address or "0.0.0.0/0"),
        "subnet": str(right.network),
        "router": router.name,
        "interface": interface.name,
        "right": str(changed),
    }
    fault = Fault.WRONG_SUBNET if own.address else Fault.NO_ADDRESS
    quotes = [*own.shown("address"), *interface.shown("address")]
    gateway = right.ip if router.role is Role.ROUTER else None
    fix = _set_address(host.name, changed, gateway)
    mended = replace(host, interfaces=(replace(own, address=changed),), gateway=gateway)
    finding = Finding(fault, host.name, facts, first_quotes(quotes), fix)
    yield Repair(finding, network.with_device(mended))


def duplicate_repairs(
    network: Network, failure: Failure, asked: tuple[str, ...]
) -> Iterator[Repair]:
    """Give one of two owners of an address another one; rather not a router."""
    if failure.end is None or failure.address is None:
        return
    owners = [
        (device, interface)
        for device, interface in network.members(failure.end)
        if interface.address and interface.address.ip == failure.address
    ]
    # A router is a gateway to others, and a device asked about is meant so.
    owners.sort(key=lambda o: (o[0].role is Role.ROUTER, o[0].name in asked))
    if len(owners) < 2:
        return
    (device, own), (other, theirs) = owners[0], owners[1]
    if own.address is None:
        return
    changed = free_address(network, own.address.network, own.address)
    if changed is None:
        return
    facts = {
        "device": device.name,
        "other": other.name,
        "address": str(failure.address),
        "right": str(changed.ip),
    }
    quotes = [*own.shown("address"), *theirs.shown("address")]
    fix = _fix_duplicate(device, own, changed)
    mended = network.with_interface(device.name, replace(own, address=changed))
    yield Repair(
        Finding(Fault.DUPLICATE_ADDRESS, device.name, facts, first_quotes(quotes), fix),
        mended,
    )


def _fix_duplicate(device: Device, own: Interface, changed: IPv4Interface) -> Fix:
    if device.role is Role.HOST:
        return _set_address(device.name, changed, device.gateway)
    return set_interface_address(device.name, own, changed)


def set_interface_address(name: str, own: Interface, address: IPv4Interface) -> Fix:
    return Fix(
        name,
        (
            "configure terminal",
            f"interface {own.name}",
            f"ip address {address.ip} {address.netmask}",
            "end",
        ),
    )


def _set_address(name: str, address: IPv4Interface, gateway: IPv4Address | None) -> Fix:
    return Fix(name, (f"ip {address} {gateway or ''}".strip(),))


def free_address(
    network: Network, subnet: IPv4Network, like: IPv4Interface | None
) -> IPv4Interface | None:
    """An address that nobody has, with the host part of the old one if that is free."""
    used = {
        interface.address.ip
        for device in network.devices.values()
        for interface in device.addressed
        if interface.address
    }
    size = subnet.num_addresses
    start = (int(like.ip) if like else 10) % size
    for offset in range(min(size, 1024)):
        candidate = subnet.network_address + (start + offset) % size
        is_edge = candidate in {subnet.network_address, subnet.broadcast_address}
        if candidate not in used and not is_edge:
            return IPv4Interface(f"{candidate}/{subnet.prefixlen}")
    return None
