"""The simulated PC prints what VPCS prints."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.demolab.vpcs_ping import parse_address


def test_show_ip_has_the_lines_of_vpcs(devices: Any) -> None:
    lines = devices.run("PC1", "show ip").splitlines()

    assert lines[:4] == [
        "",
        "NAME        : PC1[1]",
        "IP/MASK     : 10.0.1.10/24",
        "GATEWAY     : 10.0.1.254",
    ]
    assert re.fullmatch(r"MAC         : 00:50:79:66:68:[0-9a-f]{2}", lines[5])


def test_ping_prints_five_replies(devices: Any) -> None:
    lines = devices.run("PC1", "ping 10.0.2.10").split("\n")

    assert len(lines) == 7
    for number, line in enumerate(lines[:5], 1):
        assert re.fullmatch(
            rf"84 bytes from 10\.0\.2\.10 icmp_seq={number} ttl=62 time=\d+\.\d+ ms",
            line,
        )


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("ping 10.0.1.99", r"host \(10\.0\.1\.99\) not reachable\n\n"),
        (
            "ping 10.77.0.1 -c 1",
            r"\*10\.0\.1\.254 icmp_seq=1 ttl=255 time=\d+\.\d+ ms "
            r"\(ICMP type:3, code:1, Destination host unreachable\)\n\n",
        ),
        (
            "ping 10.0.2.10 -c 1 -T 1",
            r"\*10\.0\.1\.254 .* \(ICMP type:11, code:0, TTL expired in transit\)\n\n",
        ),
        ("ping 10.0.1.10 -c 1", r"10\.0\.1\.10 icmp_seq=1 ttl=64 time=0\.001 ms\n\n"),
        ("ping example", r"Cannot resolve example\n\n"),
        ("ping 10.0.1.1 -x", r"Invalid options\n\n"),
        ("show arp", r"\narp table is empty\n\n"),
        ("foo bar", r'Bad command: "foo bar"\. Use \? for help\.\n\n'),
        ("s", r"save\nset\nshow\nsleep\n\n"),
        ("show foo", r"Invalid arguments\n\n"),
        ("set foo bar", r"Invalid command\.\n\n"),
        ("set pcname", r"Incomplete command\.\n\n"),
        ("clear ip", r"IPv4 address/mask, gateway, DNS, and DHCP cleared\n\n"),
        ("clear foo", r"Invalid options\n\n"),
        ("ip foo", r"Invalid address\n\n"),
        ("ip 300.1.1.1/24", r"Invalid address\n\n"),
        ("ip 0.0.0.0/0", r"Invalid address\n\n"),
        ("ip 10.0.0.255/24", r"Invalid host address\n\n"),
        ("ip 10.0.0.1/24 10.0.0.1", r"Invalid address\n\n"),
        ("ip 10.0.0.1/24 10.0.1.254", r"not same subnet\n\n"),
        (
            "ip 10.0.1.254/24",
            r"Checking for duplicate address\.\.\.\n"
            r"10\.0\.1\.254 is being used by MAC ca:01:[0-9a-f:]+\n"
            r"Address not changed\n\n",
        ),
        (
            "ip 10.0.1.11 255.255.255.0 10.0.1.254",
            r"Checking for duplicate address\.\.\.\n"
            r"PC1 : 10\.0\.1\.11 255\.255\.255\.0 gateway 10\.0\.1\.254\n\n",
        ),
        (
            "trace 10.0.2.10",
            r"trace to 10\.0\.2\.10, 8 hops max, press Ctrl\+C to stop\n"
            r" 1   10\.0\.1\.254   .*\n"
            r" 2   10\.0\.12\.2   .*\n"
            r" 3   \*10\.0\.2\.10   [\d.]+ ms "
            r"\(ICMP type:3, code:3, Destination port unreachable\)\n\n",
        ),
        ("!ls", r'Bad command: "!ls"\. Use \? for help\.\n\n'),
        ("rlogin 127.0.0.1 22", r"Bad command: .*\n\n"),
    ],
)
def test_command_prints_the_text_of_vpcs(devices: Any, line: str, pattern: str) -> None:
    assert re.fullmatch(pattern, devices.run("PC1", line))


def test_timeout_line_names_the_destination(devices: Any) -> None:
    devices.network.named("PC2").is_started = False

    text = devices.run("PC1", "ping 10.0.2.10 -c 2")

    assert text == "10.0.2.10 icmp_seq=1 timeout\n10.0.2.10 icmp_seq=2 timeout\n\n"


def test_no_gateway_is_said(devices: Any) -> None:
    text = devices.run("PC1", "ip 10.0.1.10/24", "ping 10.0.2.10")

    assert text == "No gateway found\n\n"


def test_address_change_has_effect_and_survives_a_restart_only_when_saved(
    devices: Any,
) -> None:
    pc = devices.network.named("PC1")
    devices.run("PC1", "ip 10.0.1.20/24 10.0.1.254")
    reply = devices.run("PC2", "ping 10.0.1.20 -c 1")

    pc.boot()
    unsaved = devices.run("PC1", "show ip")
    devices.run("PC1", "ip 10.0.1.20/24 10.0.1.254", "save")
    pc.boot()

    assert reply.startswith("84 bytes from 10.0.1.20 icmp_seq=1 ttl=62")
    assert "10.0.1.10/24" in unsaved
    assert "10.0.1.20/24" in devices.run("PC1", "show ip")


def test_prompt_follows_the_name(devices: Any) -> None:
    devices.run("PC1", "set pcname desk-7")

    assert devices.cli("PC1").prompt() == "\rdesk-7> "


def test_banner_and_version_say_that_it_is_simulated(devices: Any) -> None:
    assert "SIMULATED" in devices.cli("PC1").banner()
    assert "SIMULATED" in devices.run("PC1", "version")


@pytest.mark.parametrize("name", ["?", "help", "show ?", "ip", "ping", "trace", "set"])
def test_help_is_given(devices: Any, name: str) -> None:
    assert len(devices.run("PC1", name).splitlines()) > 3


@given(st.text(max_size=60))
def test_no_line_breaks_the_console(line: str) -> None:
    from projects.demolab.forwarding import Forwarder
    from projects.demolab.generate import default_lab
    from projects.demolab.vpcs_cli import VpcsCli

    network, _ = default_lab("none")
    cli = VpcsCli(network.named("PC1"), Forwarder(network), lambda: None)

    assert len(list(cli.run(line))) < 1000


@given(st.lists(st.text("0123456789./ ", min_size=1), min_size=1, max_size=3))
def test_address_is_read_or_refused_in_words(words: list[str]) -> None:
    refusal = ""
    try:
        own, gateway = parse_address(words)
    except ValueError as exc:
        refusal = str(exc)

    if refusal:
        assert refusal in ("Invalid address", "Invalid host address", "not same subnet")
    else:
        assert gateway is None or gateway in own.network
