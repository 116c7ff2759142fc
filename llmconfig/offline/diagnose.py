"""Finds what keeps one device from reaching another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from llmconfig.offline.cabling import missing_links
from llmconfig.offline.consistency import (
    contradictions,
    position_oddity,
    range_oddity,
)
from llmconfig.offline.faults import Fault, Finding, Repair
from llmconfig.offline.network import Device, End, Network, Role, first_quotes
from llmconfig.offline.physical import (
    cable_path,
    not_cabled,
    obstacles,
    start_device,
    switched_off,
)
from llmconfig.offline.quotes import Quote
from llmconfig.offline.repair_hosts import duplicate_repairs, host_repairs
from llmconfig.offline.repair_routers import (
    acl_repairs,
    interface_repairs,
    route_repairs,
)
from llmconfig.offline.walk import Failure, Stop, Trip, take_trip

MAX_FINDINGS = 6
# Router addresses in the middle of a subnet are unusual from here on.
NOTABLE_ODDITY = 2
# Incomplete trip, contradictions, rank, oddities: the lowest is the likeliest.
Score = tuple[int, int, int, int, int]
Target = str | IPv4Address
Pair = tuple[str, Target]


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong between two devices, first on the path first."""

    findings: tuple[Finding, ...]
    # The network with everything found repaired, as far as that could be tried.
    mended: Network
    trip: Trip


def diagnose(network: Network, source: str, target: Target) -> Diagnosis:
    found: list[Finding] = []
    owner = owner_of(network, target)
    for repair in _physical(network, source, owner):
        found.append(repair.finding)
        network = repair.network
        if _ends_search(network, repair.finding):
            trip = take_trip(network, source, target)
            return Diagnosis(tuple(found), network, trip)
    trip = take_trip(network, source, target)
    while not trip.is_complete and len(found) < MAX_FINDINGS:
        best = _best_repair(network, trip, source, target)
        if best is None:
            found.append(_unexplained(network, trip))
            break
        found.append(best.finding)
        if best.finding.fault in {Fault.NODE_STOPPED, Fault.UNREADABLE}:
            break
        network = best.network
        trip = take_trip(network, source, target)
    return Diagnosis(tuple(found), network, trip)


def _physical(network: Network, source: str, owner: str | None) -> Iterator[Repair]:
    """What is off or unplugged on the way, before any address matters."""
    if owner is None:
        return
    if cable_path(network, source, owner) is None:
        joined = _join(network, source, owner)
        if joined is None:
            yield Repair(not_cabled(network, source, owner), network)
            return
        yield joined
        network = joined.network
    yield from obstacles(network, source, owner)


def _join(network: Network, source: str, owner: str) -> Repair | None:
    """The missing link that makes a chain of links between the two."""
    return next(
        (
            repair
            for repair in missing_links(network)
            if cable_path(repair.network, source, owner) is not None
        ),
        None,
    )


def _ends_search(network: Network, finding: Finding) -> bool:
    """Nothing behind it can be judged."""
    device = network.devices[finding.device]
    return finding.fault is Fault.NOT_CABLED or _is_unknown(device)


def owner_of(network: Network, target: Target) -> str | None:
    """The device that a target names, or that has the address."""
    if isinstance(target, str):
        return target
    return next((d.name for d in network.devices.values() if d.owns(target)), None)


def _best_repair(
    network: Network, trip: Trip, source: str, target: Target
) -> Repair | None:
    """Of the changes that bring the packet further, the most plausible one."""
    tried: list[tuple[Score, int, Repair]] = []
    for number, repair in enumerate(_candidates(network, trip, source, target)):
        after = take_trip(repair.network, source, target)
        if after.progress > trip.progress:
            tried.append((_score(repair, after), number, repair))
    tried.sort(key=lambda item: item[:2])
    unknown = _unknown_repair(network, trip)
    if unknown and not (tried and _is_switch(tried[0][2])):
        return unknown
    return _with_alternative(tried) if tried else None


def _score(repair: Repair, after: Trip) -> Score:
    return (
        int(not after.is_complete),
        contradictions(repair.network),
        repair.rank,
        position_oddity(repair.network),
        range_oddity(repair.network),
    )


def _with_alternative(tried: Sequence[tuple[Score, int, Repair]]) -> Repair:
    """The best repair, naming one of another device that fits as well."""
    score, _, best = tried[0]
    for other_score, _, other in tried[1:]:
        is_as_good = other_score[:2] == score[:2]
        is_as_usual = abs(other_score[3] - score[3]) < NOTABLE_ODDITY
        is_other = other.finding.device != best.finding.device
        if is_as_good and is_as_usual and is_other:
            finding = replace(best.finding, alternative=other.finding)
            return replace(best, finding=finding)
    return best


def _is_switch(repair: Repair) -> bool:
    """Is it something to be switched on, not a configuration to be changed?"""
    return repair.finding.fault in {
        Fault.LINK_SUSPENDED,
        Fault.LINK_MISSING,
        Fault.INTERFACE_DOWN,
    }


def _candidates(
    network: Network, trip: Trip, source: str, target: Target
) -> Iterator[Repair]:
    failure = trip.failure
    if failure is None:
        return
    ends = [source, owner_of(network, target)]
    asked = tuple(name for name in dict.fromkeys(ends) if name)
    yield from switched_off(network)
    yield from missing_links(network)
    yield from acl_repairs(network, failure)
    if failure.stop is Stop.DUPLICATE:
        yield from duplicate_repairs(network, failure, asked)
    for name in asked:
        yield from host_repairs(network, name)
    yield from route_repairs(network, trip)
    yield from interface_repairs(network)


def _unknown_repair(network: Network, trip: Trip) -> Repair | None:
    """A router on the failing cable whose configuration could not be read."""
    failure = trip.failure
    if failure is None:
        return None
    device = network.devices[failure.device]
    if failure.stop in {Stop.STOPPED, Stop.UNREADABLE}:
        return _not_readable(network, device)
    if failure.stop is not Stop.UNANSWERED or failure.end is None:
        return None
    if _is_host_address(network, failure):
        return None
    near = _routers_on_cable(network, failure.end)
    if any(router.is_known for router in near):
        return None
    return next((_not_readable(network, router) for router in near), None)


def _is_host_address(network: Network, failure: Failure) -> bool:
    """Does a PC have the address that nobody answered for?"""
    address = failure.address
    return any(
        address is not None and host.owns(address)
        for host in network.of_role(Role.HOST)
    )


def _routers_on_cable(network: Network, end: End) -> list[Device]:
    """The other routers plugged into the same cable or switches, running or not."""
    running = {
        name: replace(device, is_started=True)
        for name, device in network.devices.items()
    }
    ideal = replace(network, devices=running)
    names = dict.fromkeys(name for name, _ in sorted(ideal.segment(end)))
    devices = [network.devices[name] for name in names if name != end[0]]
    return [device for device in devices if device.role is Role.ROUTER]


def _is_unknown(device: Device) -> bool:
    return device.role in {Role.HOST, Role.ROUTER} and not device.is_known


def _not_readable(network: Network, device: Device) -> Repair:
    if not device.is_started:
        return start_device(network, device)
    facts = {"device": device.name, "problem": device.problem or "?"}
    quotes = first_quotes([device.quotes.get("problem"), device.quotes.get("status")])
    return Repair(Finding(Fault.UNREADABLE, device.name, facts, quotes), network)


def _unexplained(network: Network, trip: Trip) -> Finding:
    """Where the packet stops, when no single change would bring it further."""
    failure = trip.failure
    if failure is None:
        return Finding(Fault.UNEXPLAINED, "", {}, ())
    device = network.devices[failure.device]
    facts = {"device": device.name, "address": str(failure.address or "?")}
    fault = Fault.UNEXPLAINED
    if failure.stop is Stop.NO_ADDRESS:
        fault = Fault.UNNUMBERED
    quotes: list[Quote | None] = [
        *(quote for i in device.interfaces for quote in i.shown("address")),
        device.quotes.get("gateway"),
        device.quotes.get("last_resort"),
    ]
    return Finding(fault, device.name, facts, first_quotes(quotes))


def diagnose_all(
    network: Network, pairs: Sequence[Pair]
) -> tuple[Pair | None, tuple[Finding, ...]]:
    """The first pair that fails, and everything found over all pairs."""
    first: Pair | None = None
    found: dict[tuple[Fault, str], Finding] = {}
    for source, target in pairs:
        if len(found) >= MAX_FINDINGS:
            break
        result = diagnose(network, source, target)
        if result.findings and first is None:
            first = (source, target)
        for finding in result.findings:
            found.setdefault((finding.fault, finding.device), finding)
        network = result.mended
    return first, tuple(found.values())
