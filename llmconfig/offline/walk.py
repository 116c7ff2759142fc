"""Walks a packet through the network, hop by hop, there and back."""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address

from llmconfig.offline.acl import AclRule, judge
from llmconfig.offline.forwarding import lookup
from llmconfig.offline.network import Device, End, Interface, Network, Role, Route

# The TTL of a PC.
MAX_HOPS = 64


class Stop(StrEnum):
    """Why a packet got no further."""

    STOPPED = "stopped"
    UNREADABLE = "unreadable"
    NO_ADDRESS = "no_address"
    NO_GATEWAY = "no_gateway"
    UNANSWERED = "unanswered"
    DUPLICATE = "duplicate"
    NO_ROUTE = "no_route"
    ACL = "acl"
    LOOP = "loop"


@dataclass(frozen=True)
class Failure:
    """Where it stopped: the device, the end it sent from, the address it asked for."""

    stop: Stop
    device: str
    end: End | None = None
    address: IPv4Address | None = None
    route: Route | None = None
    interface: Interface | None = None
    direction: str = ""
    rule: AclRule | None = None


@dataclass(frozen=True)
class Walk:
    hops: tuple[str, ...]
    failure: Failure | None


@dataclass(frozen=True)
class Trip:
    """A walk there and, when that arrived, back."""

    there: Walk
    back: Walk | None
    source: IPv4Address | None
    destination: IPv4Address | None

    @property
    def is_complete(self) -> bool:
        return self.back is not None and self.back.failure is None

    @property
    def failure(self) -> Failure | None:
        return self.back.failure if self.back else self.there.failure

    @property
    def is_return(self) -> bool:
        return self.back is not None

    @property
    def progress(self) -> int:
        returned = len(self.back.hops) + MAX_HOPS if self.back else 0
        return 2 * MAX_HOPS if self.is_complete else len(self.there.hops) + returned


@dataclass(frozen=True)
class Packet:
    source: IPv4Address
    destination: IPv4Address
    kind: str


def main_address(device: Device) -> IPv4Address | None:
    """The address by which a device is asked for: the first that is up."""
    ordered = sorted(device.addressed, key=lambda interface: interface.is_down)
    return next((i.address.ip for i in ordered if i.address), None)


def take_trip(network: Network, source: str, target: str | IPv4Address) -> Trip:
    """An echo request to a device or an address, and the reply."""
    destination = _address_of(network, target)
    first = network.devices[source]
    if destination is None:
        name = str(target)
        return Trip(Walk((), _without_address(network, name)), None, None, None)
    origin = _source_address(first, destination)
    if origin is None:
        failure = _without_address(network, source)
        return Trip(Walk((), failure), None, None, destination)
    there = walk(network, source, Packet(origin, destination, "echo"))
    if there.failure:
        return Trip(there, None, origin, destination)
    reply = Packet(destination, origin, "echo-reply")
    return Trip(there, walk(network, there.hops[-1], reply), origin, destination)


def _address_of(network: Network, target: str | IPv4Address) -> IPv4Address | None:
    if isinstance(target, IPv4Address):
        return target
    return main_address(network.devices[target])


def _without_address(network: Network, name: str) -> Failure:
    device = network.devices[name]
    if not device.is_started:
        return Failure(Stop.STOPPED, name)
    stop = Stop.NO_ADDRESS if device.is_known else Stop.UNREADABLE
    return Failure(stop, name)


def _source_address(device: Device, destination: IPv4Address) -> IPv4Address | None:
    if device.role is Role.ROUTER:
        chosen = lookup(device, destination)
        interface = device.interface(chosen[0]) if chosen else None
        if interface and interface.address:
            return interface.address.ip
    return main_address(device)


def walk(network: Network, start: str, packet: Packet) -> Walk:
    hops: list[str] = []
    name, arrived = start, ""
    while True:
        device = network.devices[name]
        hops.append(name)
        if len(hops) > MAX_HOPS:
            return Walk(tuple(hops), Failure(Stop.LOOP, name))
        step = _step(network, device, packet, arrived)
        if isinstance(step, Failure):
            return Walk(tuple(hops), step)
        if step is None:
            return Walk(tuple(hops), None)
        name, arrived = step


def _step(
    network: Network, device: Device, packet: Packet, arrived: str
) -> End | Failure | None:
    """The next end, why there is none, or None when the packet has arrived."""
    entry = device.interface(arrived) if arrived else None
    if entry and (blocked := _filter(device, entry, "in", packet)):
        return blocked
    if device.owns(packet.destination):
        return None
    if device.role is Role.HOST:
        chosen = _host_choice(device, packet.destination)
    else:
        chosen = _router_choice(device, packet.destination)
    if isinstance(chosen, Failure):
        return chosen
    port, address, route = chosen
    leaving = device.interface(port)
    # A router does not filter what it sends itself.
    if leaving and arrived and (out := _filter(device, leaving, "out", packet)):
        return out
    return _deliver(network, device, (device.name, port), address, route)


def _host_choice(
    device: Device, destination: IPv4Address
) -> tuple[str, IPv4Address, Route | None] | Failure:
    own = device.addressed[0] if device.addressed else None
    if own is None or own.address is None:
        return Failure(Stop.NO_ADDRESS, device.name)
    if destination in own.address.network:
        return own.port, destination, None
    end = (device.name, own.port)
    if device.gateway is None or device.gateway not in own.address.network:
        return Failure(Stop.NO_GATEWAY, device.name, end, device.gateway)
    return own.port, device.gateway, None


def _router_choice(
    device: Device, destination: IPv4Address
) -> tuple[str, IPv4Address, Route | None] | Failure:
    if not device.is_known:
        stop = Stop.UNREADABLE if device.is_started else Stop.STOPPED
        return Failure(stop, device.name)
    chosen = lookup(device, destination)
    return chosen or Failure(Stop.NO_ROUTE, device.name, None, destination)


def _deliver(
    network: Network,
    device: Device,
    end: End,
    address: IPv4Address,
    route: Route | None,
) -> End | Failure:
    own = device.interface(end[1])
    if own and own.address and network.owners(end, own.address.ip):
        return Failure(Stop.DUPLICATE, device.name, end, own.address.ip)
    owners = network.owners(end, address)
    if len(owners) > 1:
        return Failure(Stop.DUPLICATE, device.name, end, address)
    asker = own.address.ip if own and own.address else None
    for other, interface in owners or network.members(end):
        if asker and _answers(other, interface, asker, address):
            return other.name, interface.port
    return Failure(Stop.UNANSWERED, device.name, end, address, route)


def _answers(
    device: Device,
    interface: Interface,
    asker: IPv4Address,
    wanted: IPv4Address,
) -> bool:
    """Does it answer an ARP request? Routers also do so for what lies behind them."""
    own = interface.address
    if own is None or own.ip == asker:
        return False
    if device.role is not Role.ROUTER:
        return own.ip == wanted
    if asker not in own.network:
        return False
    if own.ip == wanted:
        return True
    if not interface.has_proxy_arp or wanted in own.network:
        return False
    chosen = lookup(device, wanted)
    return chosen is not None and chosen[0] != interface.port


def _filter(
    device: Device, interface: Interface, direction: str, packet: Packet
) -> Failure | None:
    name = interface.acl_in if direction == "in" else interface.acl_out
    if not name:
        return None
    rules = device.acls.get(name, ())
    passes, rule = judge(rules, packet.source, packet.destination, packet.kind)
    if passes:
        return None
    return Failure(
        Stop.ACL,
        device.name,
        (device.name, interface.port),
        packet.destination,
        interface=interface,
        direction=direction,
        rule=rule,
    )
