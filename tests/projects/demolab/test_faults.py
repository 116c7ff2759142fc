"""Each fault breaks the ping of its question, and the consoles show why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.demolab.faults import FAULTS
from projects.demolab.forwarding import Fate, Forwarder
from projects.demolab.generate import Truth, default_lab, random_lab, reaches
from projects.demolab.model import Network, Node


def pair(network: Network, truth: Truth) -> tuple[Node, Node]:
    words = truth.question.removesuffix("?").split()
    return network.named(words[2]), network.named(words[4])


def configuration(network: Network) -> dict[str, Any]:
    """What can be compared between two labs: configuration, power and cables."""
    return {
        "nodes": {
            n.name: (n.host, n.router, n.is_started) for n in network.nodes.values()
        },
        "links": {link.ends: link.is_suspended for link in network.links.values()},
    }


def test_twelve_faults_of_the_contract_exist() -> None:
    assert set(FAULTS) >= {
        "wrong_gateway",
        "wrong_mask",
        "wrong_subnet",
        "duplicate_address",
        "interface_down",
        "wrong_interface_address",
        "missing_route",
        "wrong_next_hop",
        "missing_return_route",
        "acl_blocks",
        "node_stopped",
        "link_suspended",
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_breaks_the_default_lab(fault: str) -> None:
    network, truth = default_lab(fault)

    source, target = pair(network, truth)

    assert (source.name, target.name) == ("PC1", "PC2")
    assert not reaches(network, source, target)
    assert truth.fault == fault
    assert truth.device in {node.name for node in network.nodes.values()}
    assert truth.device in truth.cause


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_fits_random_labs(fault: str) -> None:
    for seed in range(15):
        network, truth = random_lab(seed, fault)

        source, target = pair(network, truth)

        assert not reaches(network, source, target)
        assert (truth.seed, truth.fault) == (seed, fault)


@settings(deadline=None, max_examples=25)
@given(st.integers())
def test_any_seed_makes_a_lab_and_always_the_same(seed: int) -> None:
    network, truth = random_lab(seed)
    again, same = random_lab(seed)

    assert same == truth
    assert configuration(again) == configuration(network)
    assert set(again.nodes) == set(network.nodes)


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"duplicate_address"}))
def test_exactly_one_device_or_cable_differs_from_the_healthy_lab(fault: str) -> None:
    healthy = configuration(default_lab("none")[0])
    broken = configuration(default_lab(fault)[0])

    nodes = [n for n in healthy["nodes"] if healthy["nodes"][n] != broken["nodes"][n]]
    links = [
        ends
        for ends in healthy["links"]
        if healthy["links"][ends] != broken["links"].get(ends)
    ]

    assert len(nodes) + len(links) == 1


def test_fault_is_saved_so_that_a_restart_keeps_it() -> None:
    network, truth = default_lab("missing_return_route")

    for node in network.nodes.values():
        node.boot()

    assert not reaches(network, *pair(network, truth))


def fate(network: Network) -> Fate:
    target = network.named("PC2").host
    assert target is not None
    assert target.address is not None
    return Forwarder(network).probe(network.named("PC1"), target.address.ip).fate


EVIDENCE: list[tuple[str, str, str, str]] = [
    # fault, device, command, a text that the healthy lab does not print there
    ("missing_gateway", "PC2", "show ip", "GATEWAY     : 0.0.0.0"),
    ("wrong_gateway", "PC2", "show ip", "GATEWAY     : 10.0.2.196"),
    ("wrong_mask", "PC2", "show ip", "IP/MASK     : 10.0.2.10/22"),
    ("wrong_subnet", "PC2", "show ip", "IP/MASK     : 10.0.27.10/24"),
    ("duplicate_address", "PC3", "show ip", "IP/MASK     : 10.0.1.10/24"),
    ("interface_down", "R2", "show ip interface brief", "administratively down"),
    ("wrong_interface_address", "R2", "show ip interface brief", "10.0.27.254"),
    ("acl_blocks", "R2", "show access-lists", "10 deny icmp 10.0.1.0 0.0.0.255"),
]


@pytest.mark.parametrize(("fault", "device", "command", "text"), EVIDENCE)
def test_console_shows_the_fault(
    fault: str,
    device: str,
    command: str,
    text: str,
    devices_of: Callable[[Network], Any],
) -> None:
    broken = devices_of(default_lab(fault)[0])

    assert text in broken.run(device, command)


@pytest.mark.parametrize(
    ("fault", "device", "route"),
    [("missing_route", "R1", "10.0.2.0"), ("missing_return_route", "R2", "10.0.1.0")],
)
def test_missing_route_is_not_in_the_table(
    fault: str, device: str, route: str, devices_of: Callable[[Network], Any]
) -> None:
    network, truth = default_lab(fault)

    assert truth.device == device
    assert route not in devices_of(network).run(device, "show ip route")
    assert route in devices_of(default_lab("none")[0]).run(device, "show ip route")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("missing_route", Fate.ERROR),
        ("missing_return_route", Fate.TIMEOUT),
        ("acl_blocks", Fate.ERROR),
        ("link_suspended", Fate.TIMEOUT),
        ("node_stopped", Fate.NO_ARP),
    ],
)
def test_ping_fails_the_way_the_fault_makes_it(fault: str, expected: Fate) -> None:
    assert fate(default_lab(fault)[0]) is expected


def test_duplicate_address_is_logged_or_seen_by_arp(
    devices_of: Callable[[Network], Any],
) -> None:
    network, _ = default_lab("duplicate_address")
    lab = devices_of(network)
    addresses = [
        line
        for name in ("PC1", "PC3")
        for line in lab.run(name, "show ip").splitlines()
        if line.startswith("IP/MASK")
    ]

    lab.run("R1", "ping 10.0.1.10")

    assert addresses[0] == addresses[1]
    impostor = network.named("PC3").ports[0].mac.replace(":", "")
    assert impostor[:4] in lab.run("R1", "show arp")
