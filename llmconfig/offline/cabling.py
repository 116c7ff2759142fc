"""Finds interfaces without a link whose subnet lies on another cable."""

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
from llmconfig.offline.quotes import Quote

Place = tuple[Device, Interface]


def missing_links(network: Network) -> Iterator[Repair]:
    """Links that would bring interfaces of one subnet together."""
    places = [
        (device, interface)
        for device in network.devices.values()
        for interface in device.addressed
        if device.is_started and not interface.is_down
    ]
    loose = [place for place in places if not _is_cabled(network, place)]
    for place in loose:
        for other in places:
            if other[0].name != place[0].name and _belong(place, other):
                yield from _join(network, place, other)


def _is_cabled(network: Network, place: Place) -> bool:
    end = (place[0].name, place[1].port)
    return any(end in (wire.a, wire.b) for wire in network.wires_of[end[0]])


def _belong(place: Place, other: Place) -> bool:
    a, b = place[1].address, other[1].address
    return a is not None and b is not None and a.network == b.network


def _join(network: Network, place: Place, other: Place) -> Iterator[Repair]:
    device, interface = place
    far = _plug(network, other)
    if far is None:
        return
    near = (device.name, interface.port)
    wire = Wire(near, far, False, Quote("", "", ""), f"{device.name} – {far[0]}")
    subnet = interface.address.network if interface.address else ""
    facts = {
        "device": device.name,
        "other": far[0],
        "interface": interface.name,
        "subnet": str(subnet),
        "peer": other[0].name,
    }
    quotes = [
        *interface.shown("address"),
        *other[1].shown("address"),
        *_links_quotes(network, device.name),
    ]
    finding = Finding(
        Fault.LINK_MISSING,
        device.name,
        facts,
        first_quotes(quotes),
        Fix(device.name, action="connect"),
    )
    yield Repair(finding, replace(network, wires=(*network.wires, wire)))


def _plug(network: Network, other: Place) -> End | None:
    """Where a cable can go: the other interface itself, or a switch on its cable."""
    end = (other[0].name, other[1].port)
    if not _is_cabled(network, other):
        return end
    switches = [
        name
        for name, _ in sorted(network.segment(end))
        if network.devices[name].role is Role.SWITCH
    ]
    return (switches[0], f"free{len(network.wires)}") if switches else None


def _links_quotes(network: Network, name: str) -> Iterator[Quote]:
    """The links that the device does have."""
    wires = network.wires_of[name]
    if not wires:
        status = network.devices[name].quotes.get("status")
        if status:
            yield status
    for wire in wires:
        yield wire.quote
