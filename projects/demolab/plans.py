"""Plans of labs: names, networks and addresses, before anything is built."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from projects.demolab.model import NodeType

Namer = Callable[[random.Random, int], str]
POOLS = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
HOST_NAMES: tuple[Namer, ...] = (
    lambda rng, n: f"PC{n}",
    lambda rng, n: f"H-{n + 10}",
    lambda rng, n: f"Lab{rng.randint(1, 9)}-PC{n}",
    lambda rng, n: f"host_{'abcdefghij'[n % 10]}{n}",
    lambda rng, n: f"desk{rng.randint(100, 999)}{n}",
)
ROUTER_NAMES: tuple[Namer, ...] = (
    lambda rng, n: f"R{n}",
    lambda rng, n: f"edge_r{n}",
    lambda rng, n: f"GW-{'ABCDEFGH'[n % 8]}",
    lambda rng, n: f"core{rng.randint(1, 9)}.{n}",
    lambda rng, n: f"Router-{n}",
)
SWITCH_NAMES: tuple[Namer, ...] = (
    lambda rng, n: f"SW{n}",
    lambda rng, n: f"access-{n}",
    lambda rng, n: f"Switch{n}",
)


@dataclass
class Lan:
    """A network of PCs behind a router."""

    router: int
    network: IPv4Network
    gateway: IPv4Address
    switch: str
    hosts: list[tuple[str, IPv4Address]]
    description: str = ""
    shift: int = 0


@dataclass
class Transit:
    """A cable between two routers."""

    routers: tuple[int, int]
    network: IPv4Network
    addresses: tuple[IPv4Address, IPv4Address]


@dataclass
class Plan:
    routers: list[str]
    lans: list[Lan]
    transits: list[Transit]
    pair: tuple[str, str]
    extras: list[tuple[NodeType, str]] = field(default_factory=list)
    default_routed: set[int] = field(default_factory=set)

    @classmethod
    def default(cls, *, has_spare: bool = False) -> Plan:
        """The lab a newcomer sees first."""
        near, far, between = (
            IPv4Network(text) for text in ("10.0.1.0/24", "10.0.2.0/24", "10.0.12.0/30")
        )
        hosts = [("PC1", near[10])]
        if has_spare:
            # Made first, it has the lower MAC address and wins a quarrel by ARP.
            hosts.insert(0, ("PC3", near[30]))
        return cls(
            routers=["R1", "R2"],
            lans=[
                Lan(0, near, near[254], "SW1", hosts, "LAN of PC1"),
                Lan(1, far, far[254], "SW2", [("PC2", far[10])], "LAN of PC2"),
            ],
            transits=[Transit((0, 1), between, (between[1], between[2]))],
            pair=("PC1", "PC2"),
        )

    def routes(self) -> list[list[tuple[IPv4Network, IPv4Address]]]:
        """For each router the static routes by the shortest path."""
        tables = []
        for index in range(len(self.routers)):
            table = []
            for network, owners in self._networks():
                if index in owners:
                    continue
                table.append((network, self._first_hop(index, owners)))
            if index in self.default_routed and table:
                table = [(IPv4Network("0.0.0.0/0"), table[0][1])]
            tables.append(table)
        return tables

    def add_extra(self, rng: random.Random, node_type: NodeType, named: Namer) -> None:
        """A device that stands about and has nothing to do with the question."""
        taken = {*self.routers, *(name for _, name in self.extras)}
        taken |= {lan.switch for lan in self.lans}
        number = 40
        while (name := named(rng, number)) in taken:
            number += 1
        self.extras.append((node_type, name))

    def _networks(self) -> Iterator[tuple[IPv4Network, set[int]]]:
        for lan in self.lans:
            yield lan.network, {lan.router}
        for transit in self.transits:
            yield transit.network, set(transit.routers)

    def _neighbours(self, index: int) -> Iterator[tuple[int, IPv4Address]]:
        for transit in self.transits:
            if index in transit.routers:
                other = 1 - transit.routers.index(index)
                yield transit.routers[other], transit.addresses[other]

    def _first_hop(self, start: int, goals: set[int]) -> IPv4Address:
        waiting = deque((other, hop) for other, hop in self._neighbours(start))
        seen = {start}
        while waiting:
            index, hop = waiting.popleft()
            if index in goals:
                return hop
            if index in seen:
                continue
            seen.add(index)
            waiting.extend((other, hop) for other, _ in self._neighbours(index))
        raise ValueError("The routers are not connected.")


def random_plan(rng: random.Random) -> Plan:
    """1–4 routers in a line or a ring, 2–4 networks with 2–6 PCs, some extras."""
    networks = _networks(rng)
    host_name, router_name, switch_name = (
        rng.choice(names) for names in (HOST_NAMES, ROUTER_NAMES, SWITCH_NAMES)
    )
    count = rng.randint(1, 4)
    is_ring = count >= 3 and rng.random() < 0.4
    routers = [router_name(rng, index + 1) for index in range(count)]

    places = [0, count - 1]
    if rng.random() < 0.3:
        places.append(rng.randrange(count))
    sizes = [rng.randint(1, 2) for _ in places]
    numbers = iter(rng.sample(range(1, 30), sum(sizes)))
    lans = []
    for index, (place, size) in enumerate(zip(places, sizes, strict=True)):
        network = networks(rng.choice((24, 24, 25, 26, 27, 28, 29)))
        hosts = list(network.hosts())
        gateway = hosts.pop(rng.choice((0, -1)))
        chosen = rng.sample(hosts, size)
        lans.append(
            Lan(
                place,
                network,
                gateway,
                switch_name(rng, index + 1),
                [(host_name(rng, next(numbers)), address) for address in chosen],
                rng.choice(("", f"LAN {index + 1}")),
                70 * (places[:index].count(place)),
            )
        )

    pairs = [(i, i + 1) for i in range(count - 1)] + (
        [(count - 1, 0)] if is_ring else []
    )
    transits = []
    for pair in pairs:
        network = networks(rng.choice((24, 28, 29, 30, 30, 30)))
        a, b = rng.sample(list(network.hosts()), 2)
        transits.append(Transit(pair, network, (a, b)))

    plan = Plan(
        routers,
        lans,
        transits,
        (lans[0].hosts[0][0], lans[1].hosts[0][0]),
    )
    kinds = (
        (NodeType.VPCS, host_name),
        (NodeType.ROUTER, router_name),
        (NodeType.SWITCH, switch_name),
    )
    for _ in range(rng.randint(0, 2)):
        plan.add_extra(rng, *rng.choice(kinds))
    if count > 1 and not is_ring and rng.random() < 0.4:
        plan.default_routed = {rng.choice((0, count - 1))}
    return plan


def _networks(rng: random.Random) -> Callable[[int], IPv4Network]:
    """Draws networks of a given size from one private range, never overlapping."""
    pool = IPv4Network(rng.choice(POOLS))
    taken: list[IPv4Network] = []

    def draw(prefix: int) -> IPv4Network:
        while True:
            size = 2 ** (32 - prefix)
            base = int(pool.network_address)
            offset = rng.randrange(2 ** (prefix - pool.prefixlen)) * size
            network = IPv4Network((base + offset, prefix))
            if not any(network.overlaps(other) for other in taken):
                taken.append(network)
                return network

    return draw
