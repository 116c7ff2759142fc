"""Finds the cable path between two devices and what is off on it."""

import heapq
from collections.abc import Iterator
from dataclasses import replace

from llmconfig.offline.faults import Fault, Finding, Fix, Repair
from llmconfig.offline.network import (
    Device,
    End,
    Interface,
    Network,
    Role,
    Wire,
    first_quotes,
)

# An obstacle weighs more than any detour.
_OBSTACLE = 1000
Step = tuple[Wire, str, str]


def cable_path(network: Network, source: str, target: str) -> list[Step] | None:
    """The wires from one device to another, with the fewest obstacles, then hops."""
    best: dict[str, int] = {source: 0}
    came: dict[str, Step] = {}
    queue: list[tuple[int, str]] = [(0, source)]
    while queue:
        cost, name = heapq.heappop(queue)
        if name == target:
            return list(reversed(list(_back(came, source, target))))
        if cost > best[name] or not _passes(network.devices[name], name == source):
            continue
        for wire in network.wires_of.get(name, []):
            there = wire.b[0] if wire.a[0] == name else wire.a[0]
            if there not in network.devices:
                continue
            total = cost + 1 + _OBSTACLE * len(list(_off(network, (wire, name, there))))
            if total < best.get(there, 1 << 30):
                best[there], came[there] = total, (wire, name, there)
                heapq.heappush(queue, (total, there))
    return None


def _passes(device: Device, is_source: bool) -> bool:
    """Only switches and routers hand traffic on."""
    return is_source or device.role in {Role.SWITCH, Role.ROUTER}


def _back(came: dict[str, Step], source: str, target: str) -> Iterator[Step]:
    name = target
    while name != source:
        yield came[name]
        name = came[name][1]


def _off(network: Network, step: Step) -> Iterator[Wire | Interface | Device]:
    """What is switched off on a step: this side, the wire, the far side."""
    wire, here, there = step
    ends = {wire.a[0]: wire.a, wire.b[0]: wire.b}
    yield from _shut(network, ends[here])
    if wire.is_suspended:
        yield wire
    if not network.devices[there].is_started:
        yield network.devices[there]
    yield from _shut(network, ends[there])


def _shut(network: Network, end: End) -> Iterator[Interface]:
    interface = network.devices[end[0]].interface(end[1])
    if interface and interface.is_down:
        yield interface


def obstacles(network: Network, source: str, target: str) -> list[Repair]:
    """One repair for each thing that is off on the best path, in order."""
    found: list[Repair] = []
    first = network.devices[source]
    if not first.is_started:
        found.append(start_device(network, first))
    for step in cable_path(network, source, target) or []:
        for obstacle in _off(network, step):
            base = found[-1].network if found else network
            found.append(_repair(base, step, obstacle))
    return found


def _repair(
    network: Network, step: Step, obstacle: Wire | Interface | Device
) -> Repair:
    if isinstance(obstacle, Device):
        return start_device(network, obstacle)
    if isinstance(obstacle, Wire):
        return _resume(network, obstacle)
    wire, here, there = step
    is_here = network.devices[here].interface(obstacle.port) == obstacle
    return open_interface(network, here if is_here else there, obstacle)


def start_device(network: Network, device: Device) -> Repair:
    finding = Finding(
        Fault.NODE_STOPPED,
        device.name,
        {"device": device.name},
        first_quotes([device.quotes.get("status")]),
        Fix(device.name, action="start"),
    )
    return Repair(finding, network.with_device(replace(device, is_started=True)))


def _resume(network: Network, wire: Wire) -> Repair:
    facts = {"device": wire.a[0], "other": wire.b[0], "link": wire.label}
    finding = Finding(
        Fault.LINK_SUSPENDED,
        wire.a[0],
        facts,
        first_quotes([wire.quote]),
        Fix(wire.a[0], action="resume"),
    )
    return Repair(finding, network.with_wire(replace(wire, is_suspended=False)))


def open_interface(network: Network, name: str, interface: Interface) -> Repair:
    facts = {"device": name, "interface": interface.name}
    commands = ("configure terminal", f"interface {interface.name}", "no shutdown")
    finding = Finding(
        Fault.INTERFACE_DOWN,
        name,
        facts,
        first_quotes(interface.shown("state") or interface.shown("address")),
        Fix(name, (*commands, "end")),
    )
    up = replace(interface, is_down=False, is_shut=False)
    return Repair(finding, network.with_interface(name, up))


def not_cabled(network: Network, source: str, target: str) -> Finding:
    facts = {"device": source, "other": target}
    quotes = [network.devices[name].quotes.get("status") for name in (source, target)]
    return Finding(Fault.NOT_CABLED, source, facts, first_quotes(quotes))


def switched_off(network: Network) -> Iterator[Repair]:
    """Repairs for all that is off anywhere: on a ring, routes decide the way."""
    for wire in network.wires:
        if wire.is_suspended:
            yield _resume(network, wire)
    for device in network.devices.values():
        if not device.is_started and device.role is Role.SWITCH:
            yield start_device(network, device)
        for interface in device.addressed:
            if interface.is_shut:
                yield open_interface(network, device.name, interface)
