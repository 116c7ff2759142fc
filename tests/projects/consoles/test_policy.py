"""What a command line may do, judged before any of it is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.consoles import Effect, classify, split_lines

READ, CHANGE, REFUSED = Effect.READ, Effect.CHANGE, Effect.REFUSED


@pytest.mark.parametrize(
    "line",
    [
        "show ip route",
        "sh ip int br",
        "SHOW Version",
        "  do   sh run | inc ip address",
        "ping 10.0.0.1 source f0/0",
        "traceroute 10.0.0.1",
        "terminal length 0",
        "en",
        "end",
        "exit",
        "wr t",
        "! a remark",
        "show ?",
    ],
)
def test_reading_on_a_router_needs_no_approval(line: str) -> None:
    assert classify("ios", line) == READ


@pytest.mark.parametrize(
    "line",
    [
        "configure terminal",
        "conf t",
        "ip address 10.0.0.1 255.255.255.0",
        "no shutdown",
        "shut",
        "sh",
        "router ospf 1",
        "network 10.0.0.0 0.0.0.255 area 0",
        "no ip route 0.0.0.0 0.0.0.0 10.0.0.1",
        "wr",
        "write memory",
        "copy run start",
        "clear ip route *",
        "enable secret x",
        "undebug all",
        "a command nobody knows",
    ],
)
def test_changing_a_router_needs_approval(line: str) -> None:
    assert classify("ios", line) == CHANGE


@pytest.mark.parametrize(
    "line",
    [
        "reload",
        "rel in 1",
        "RELOAD",
        "do reload",
        "do  do rel",
        "reload ?",
        "reload?",
        "write erase",
        "wr er",
        "w e",
        "do wr e",
        "write network",
        "erase startup-config",
        "delete /force flash:",
        "del flash:x",
        "format flash:",
        "conf 0x2142",
        "config-register 0x2142",
        "copy tftp://10.0.0.1/x run",
        "copy run flash:",
        "show run | redirect tftp://10.0.0.1/x",
        "show run | red flash:x",
        "show run | inc ip | tee flash:x",
        "more tftp://10.0.0.1/x",
        "debug all",
        "deb ip packet",
        "test crash",
        "factory-reset all",
        "crypto key zeroize rsa",
        "telnet 10.0.0.2",
        "tclsh",
        "e",
        "show ip route\nreload",
        "show ip route\r\n\r\nwr er",
        "rel\toad",
        "\x00re\x01load",
    ],
)
def test_what_destroys_or_leaves_a_router_is_refused(line: str) -> None:
    assert classify("ios", line) == REFUSED


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("show ip", READ),
        ("sh ip", READ),
        ("ping 10.0.0.2 -c 3", READ),
        ("trace 10.0.0.2", READ),
        ("?", READ),
        ("ip ?", READ),
        ("ip 10.0.0.1/24 10.0.0.254", CHANGE),
        ("set pcname PC9", CHANGE),
        ("clear arp", CHANGE),
        ("save", CHANGE),
        ("nonsense", CHANGE),
        ("! id", REFUSED),
        ("!id", REFUSED),
        ("rlogin 10.0.0.1 22", REFUSED),
        ("rl 22", REFUSED),
        ("quit", REFUSED),
        ("q", REFUSED),
        ("disconnect", REFUSED),
        ("disc", REFUSED),
        ("relay port 1", REFUSED),
        ("exit", REFUSED),
        ("set lport 2000", REFUSED),
        ("set rh 10.0.0.1", REFUSED),
        ("se rp 1", REFUSED),
        ("save ../../x", REFUSED),
        ("load /etc/passwd", REFUSED),
        ("2", REFUSED),
        ("show ip\nquit", REFUSED),
    ],
)
def test_effects_on_a_vpcs(line: str, effect: Effect) -> None:
    assert classify("vpcs", line) == effect


def test_unknown_dialect_is_refused() -> None:
    assert classify("junos", "show version") == REFUSED


def test_nothing_to_type_reads() -> None:
    assert classify("ios", " \n \r\n") == READ


def test_lines_hold_no_key_that_would_run_or_complete_them() -> None:
    text = "show\tip\r\nping 10.0.0.1\x03\n\x1b[Aquit\v\n"

    assert split_lines(text) == ["show ip", "ping 10.0.0.1", "[Aquit"]


@given(st.text(), st.sampled_from(["reload", "wr er", "do rel", "erase nvram:"]))
def test_refused_line_is_found_wherever_it_stands(text: str, line: str) -> None:
    assert classify("ios", f"{text}\n{line}\n{text}") == REFUSED


@given(st.text())
def test_splitting_again_changes_nothing(text: str) -> None:
    lines = split_lines(text)

    assert split_lines("\n".join(lines)) == lines
