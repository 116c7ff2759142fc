"""The simulated router reads and prints what routers do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projects.demolab.generate import default_lab
from projects.demolab.ios_grammar import interface_name
from projects.demolab.model import Network


def configure(devices: Any, name: str, *lines: str) -> str:
    """Run lines in configuration mode; what they printed."""
    devices.run(name, "configure terminal")
    text = "".join(devices.run(name, line) for line in lines)
    devices.run(name, "end")
    return text


@pytest.mark.parametrize(
    "line",
    [
        "show ip interface brief",
        "sh ip int br",
        "SHOW IP INTERFACE BRIEF",
        "  sho  ip  interf  bri ",
        "show ip interface brief | include Fast",
    ],
)
def test_abbreviation_runs_the_command(devices: Any, line: str) -> None:
    assert "FastEthernet0/0            10.0.1.254      YES" in devices.run("R1", line)


def test_interface_brief_has_the_columns_of_a_router(devices: Any) -> None:
    lines = devices.run("R1", "show ip interface brief").splitlines()

    assert lines[0] == (
        "Interface                  IP-Address      OK? Method Status"
        "                Protocol"
    )
    assert lines[3] == (
        "FastEthernet1/0            unassigned      YES unset  "
        "administratively down down"
    )


def test_route_table_is_grouped_and_coded(devices: Any) -> None:
    text = devices.run("R1", "show ip route")

    assert text.startswith("Codes: L - local, C - connected, S - static")
    assert text.endswith(
        "Gateway of last resort is not set\n"
        "\n"
        "      10.0.0.0/8 is variably subnetted, 5 subnets, 3 masks\n"
        "C        10.0.1.0/24 is directly connected, FastEthernet0/0\n"
        "L        10.0.1.254/32 is directly connected, FastEthernet0/0\n"
        "S        10.0.2.0/24 [1/0] via 10.0.12.2\n"
        "C        10.0.12.0/30 is directly connected, FastEthernet0/1\n"
        "L        10.0.12.1/32 is directly connected, FastEthernet0/1\n"
    )


def test_default_route_is_marked(devices: Any) -> None:
    configure(devices, "R1", "ip route 0.0.0.0 0.0.0.0 10.0.12.2")

    text = devices.run("R1", "show ip route")

    assert "Gateway of last resort is 10.0.12.2 to network 0.0.0.0\n" in text
    assert "\nS*    0.0.0.0/0 [1/0] via 10.0.12.2\n" in text


def test_one_route_is_explained_or_missing(devices: Any) -> None:
    assert "Routing entry for 10.0.2.0/24" in devices.run(
        "R1", "show ip route 10.0.2.9"
    )
    assert devices.run("R1", "show ip route 10.50.0.1") == "% Subnet not in table\n"
    assert devices.run("R1", "show ip route 172.16.0.1") == "% Network not in table\n"


def test_running_config_is_laid_out_as_a_router_does(devices: Any) -> None:
    text = devices.run("R1", "show running-config")

    assert text.startswith("Building configuration...\n\nCurrent configuration : ")
    assert "\nhostname R1\n" in text
    assert (
        "\ninterface FastEthernet0/0\n"
        " description LAN of PC1\n"
        " ip address 10.0.1.254 255.255.255.0\n" in text
    )
    assert "\nip route 10.0.2.0 255.255.255.0 10.0.12.2\n" in text
    assert text.endswith("\n!\nend\n\n")


def test_ping_counts_and_drops_the_first_packet_for_arp(devices: Any) -> None:
    first = devices.run("R1", "ping 10.0.2.10")
    second = devices.run("R1", "ping 10.0.2.10")

    assert first.startswith(
        "Type escape sequence to abort.\n"
        "Sending 5, 100-byte ICMP Echos to 10.0.2.10, timeout is 2 seconds:\n"
        ".!!!!\n"
        "Success rate is 80 percent (4/5), round-trip min/avg/max = "
    )
    assert "\n!!!!!\nSuccess rate is 100 percent (5/5), round-trip" in second


def test_ping_without_an_answer_shows_dots(devices: Any) -> None:
    text = devices.run("R1", "ping 10.0.1.77")

    assert text.endswith("\n.....\nSuccess rate is 0 percent (0/5)\n")


def test_ping_from_a_source_is_told_apart(devices: Any) -> None:
    good = devices.run("R1", "ping 10.0.2.10 source f0/0")
    bad = devices.run("R1", "ping 10.0.2.10 source f1/0")

    assert "Packet sent with a source address of 10.0.1.254\n" in good
    assert bad.startswith("% Invalid source")


def test_access_list_of_another_router_answers_with_u(devices: Any) -> None:
    configure(
        devices,
        "R2",
        "access-list 101 deny icmp any host 10.0.2.10",
        "access-list 101 permit ip any any",
        "interface f0/1",
        "ip access-group 101 in",
    )
    devices.run("R1", "ping 10.0.12.2")

    text = devices.run("R1", "ping 10.0.2.10")

    assert "\nUUUUU\n" in text
    assert devices.run("R2", "show access-lists") == (
        "Extended IP access list 101\n"
        "    10 deny icmp any host 10.0.2.10 (5 matches)\n"
        "    20 permit ip any any (5 matches)\n"
    )


def test_traceroute_names_each_router(devices: Any) -> None:
    text = devices.run("R1", "traceroute 10.0.2.10")

    assert re.search(r"\n  1 10\.0\.12\.2 \d+ msec .*\n  2 10\.0\.2\.10 \d+ msec", text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("show foo", "        ^\n% Invalid input detected at '^' marker.\n\n"),
        ("foo", "   ^\n% Invalid input detected at '^' marker.\n\n"),
        ("show ip", "% Incomplete command.\n\n"),
        ("show", "% Incomplete command.\n\n"),
        ("show i", '% Ambiguous command:  "show i"\n'),
        ("ping 10.0.0", "        ^\n% Invalid input detected at '^' marker.\n\n"),
        ("show interfaces f0/0 x", None),
        ("show running-config interface f9/9", "% Invalid interface\n"),
    ],
)
def test_wrong_line_is_marked(devices: Any, line: str, text: str | None) -> None:
    printed = devices.run("R1", line)

    if text is None:
        assert printed.endswith("^\n% Invalid input detected at '^' marker.\n\n")
    else:
        assert printed == text


def test_user_mode_knows_less(devices: Any) -> None:
    devices.run("R1", "disable")

    assert devices.cli("R1").prompt() == "R1>"
    assert "Invalid input" in devices.run("R1", "show running-config")
    assert "FastEthernet0/0" in devices.run("R1", "show ip interface brief")

    devices.run("R1", "enable")

    assert devices.cli("R1").prompt() == "R1#"


def test_modes_show_in_the_prompt(devices: Any) -> None:
    prompts = []
    for line in (
        "conf t",
        "int f0/0",
        "exit",
        "ip access-list extended WEB",
        "interface FastEthernet 0/1",
        "end",
    ):
        devices.run("R1", line)
        prompts.append(devices.cli("R1").prompt())

    assert prompts == [
        "R1(config)#",
        "R1(config-if)#",
        "R1(config)#",
        "R1(config-ext-nacl)#",
        "R1(config-if)#",
        "R1#",
    ]


def test_shutdown_takes_the_path_down_and_up_again(devices: Any) -> None:
    before = devices.run("PC1", "ping 10.0.2.10 -c 1")
    configure(devices, "R1", "interface f0/1", "shutdown")
    down = devices.run("PC1", "ping 10.0.2.10 -c 1")
    brief = devices.run("R1", "show ip interface brief")
    configure(devices, "R1", "int fa0/1", "no shut")

    assert "bytes from" in before
    assert "Destination host unreachable" in down
    assert re.search(r"FastEthernet0/1 .* administratively down down\n", brief)
    assert "bytes from" in devices.run("PC1", "ping 10.0.2.10 -c 1")


def test_route_can_be_removed_and_added(devices: Any) -> None:
    configure(devices, "R1", "no ip route 10.0.2.0 255.255.255.0 10.0.12.2")
    without = devices.run("PC1", "ping 10.0.2.10 -c 1")
    configure(
        devices, "R1", "ip route 10.0.2.0 255.255.255.0 FastEthernet0/1 10.0.12.2"
    )

    assert "unreachable" in without
    assert "bytes from" in devices.run("PC1", "ping 10.0.2.10 -c 1")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["ip route 10.0.9.1 255.255.255.0 10.0.12.2"], "%Inconsistent address"),
        (["ip route 10.0.9.0 0.0.0.255 10.0.12.2"], "%Inconsistent address"),
        (["ip route 10.0.9.0 255.255.255.0 10.0.12.1"], "%Invalid next hop address"),
        (["no ip route 10.8.0.0 255.255.0.0"], "%No matching route to delete"),
        (["interface f1/0", "ip address 10.0.1.7 255.255.255.0"], "overlaps with"),
        (["interface f1/0", "ip address 10.3.0.0 255.255.255.0"], "Bad mask /24"),
        (["interface f1/0", "ip address 10.3.0.1 255.0.255.0"], "Bad mask 0xFF00FF00"),
        (["interface f7/0"], "Invalid input detected"),
        (["access-list 101 permit"], "% Incomplete command."),
        (["access-list 101 permit ip any"], "% Incomplete command."),
        (["access-list 101 allow ip any any"], "Invalid input detected"),
        (["access-list 900 permit any"], "Invalid input detected"),
        (["router ospf 1"], "Invalid input detected"),
    ],
)
def test_wrong_configuration_is_refused(
    devices: Any, lines: list[str], text: str
) -> None:
    before = devices.run("R1", "show running-config")

    assert text in configure(devices, "R1", *lines)
    assert devices.run("R1", "show running-config") == before


def test_standard_list_filters_by_source(devices: Any) -> None:
    configure(
        devices,
        "R2",
        "access-list 10 deny 10.0.1.10",
        "access-list 10 permit 10.0.0.0 0.255.255.255",
        "interface f0/0",
        "ip access-group 10 out",
    )

    assert "prohibited" in devices.run("PC1", "ping 10.0.2.10 -c 1")
    assert devices.run("R2", "show access-lists 10") == (
        "Standard IP access list 10\n"
        "    10 deny 10.0.1.10 (1 match)\n"
        "    20 permit 10.0.0.0, wildcard bits 0.255.255.255\n"
    )


def test_named_list_is_edited_by_number(devices: Any) -> None:
    configure(
        devices,
        "R1",
        "ip access-list extended WEB",
        "permit tcp any any eq 80",
        "deny ip any any",
        "15 permit icmp any any echo",
        "no 20",
    )

    assert devices.run("R1", "show access-lists WEB") == (
        "Extended IP access list WEB\n"
        "    10 permit tcp any any eq 80\n"
        "    15 permit icmp any any echo\n"
    )


def test_list_ends_with_a_silent_deny(devices: Any) -> None:
    configure(
        devices,
        "R1",
        "access-list 120 permit tcp any any",
        "interface f0/0",
        "ip access-group 120 in",
    )

    assert "code:13" in devices.run("PC1", "ping 10.0.2.10 -c 1")


def test_startup_config_changes_only_when_written(devices: Any) -> None:
    configure(devices, "R1", "hostname edge")
    before = devices.run("R1", "show startup-config")
    written = devices.run("R1", "copy running-config startup-config", answer="")

    assert "hostname R1" in before
    assert written.startswith("Destination filename [startup-config]? ")
    assert written.endswith("[OK]\n")
    assert "hostname edge" in devices.run("R1", "show startup-config")


def test_do_runs_an_exec_command_in_configuration_mode(devices: Any) -> None:
    devices.run("R1", "conf t")

    assert "10.0.1.254" in devices.run("R1", "do sh ip int br")
    assert devices.cli("R1").prompt() == "R1(config)#"


def test_reload_asks_first(devices: Any) -> None:
    devices.run("R1", "reload", answer="no")
    refused = list(devices.reloaded)

    devices.run("R1", "reload", answer="")

    assert refused == []
    assert devices.reloaded == ["R1"]


@pytest.mark.parametrize(
    "line",
    [
        "show arp",
        "show ip arp",
        "show interfaces",
        "show interfaces f0/0",
        "show interfaces description",
        "show ip interface",
        "show ip protocols",
        "show version",
        "show cdp neighbors",
        "show logging",
        "show clock",
        "show history",
        "show startup-config",
        "show ip route static",
        "show ip route connected",
        "show running-config | section interface",
        "show running-config | begin line con",
    ],
)
def test_show_command_prints_something(devices: Any, line: str) -> None:
    text = devices.run("R1", line)

    assert text.strip()
    assert not text.startswith("%")


def test_duplicate_address_is_logged(devices: Any) -> None:
    pc = devices.network.named("PC1")
    router = devices.network.named("R1").router
    pc.host.address = router.interfaces["FastEthernet0/0"].address

    assert "%IP-4-DUPADDR: Duplicate address 10.0.1.254 on FastEthernet0/0" in (
        devices.run("R1", "show logging")
    )


def test_help_lists_what_may_follow(devices: Any) -> None:
    cli = devices.cli("R1")

    assert "  running-config\n" in cli.help("show ")
    assert cli.help("show run") == "  running-config\n\n"
    assert "  A.B.C.D\n" in cli.help("ping ")
    assert "  <cr>\n" in cli.help("show version ")


def test_banner_and_version_say_that_it_is_simulated(devices: Any) -> None:
    assert "SIMULATED" in devices.cli("R1").banner()
    assert "SIMULATED" in devices.run("R1", "show version")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("f0/0", "FastEthernet0/0"),
        ("Fa 0/1", "FastEthernet0/1"),
        ("gi0/0", "GigabitEthernet0/0"),
        ("lo0", "Loopback0"),
        ("x0/0", None),
        ("f", None),
    ],
)
def test_interface_name_is_completed(text: str, name: str | None) -> None:
    assert interface_name(text) == name


WORDS = st.one_of(
    st.sampled_from(["show", "ip", "interface", "f0/0", "brief", "route", "10.0.0.1"]),
    st.sampled_from(["255.255.255.0", "no", "access-list", "101", "permit", "any"]),
    st.sampled_from(["host", "conf", "t", "end", "exit", "do", "ping", "hostname"]),
    st.sampled_from(["x", "|", "include", "shutdown", "?", "'", "\\", "0/0", "-1"]),
    st.sampled_from(["description", "copy", "run", "start", "enable", "disable"]),
    st.text(max_size=5),
)


# The fixture is a class: nothing of one example is left for the next.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), max_size=6))
def test_no_line_breaks_the_console(
    devices_of: Callable[[Network], Any], lines: list[str]
) -> None:
    devices = devices_of(default_lab("none")[0])

    for line in lines:
        devices.cli("R1").help(line)
        assert len(devices.run("R1", line)) < 50_000
