"""The console of a simulated PC: VPCS's commands and texts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from projects.demolab import vpcs_texts
from projects.demolab.cli import Steps, Wait
from projects.demolab.forwarding import (
    TYPE_AND_CODE,
    Fate,
    Forwarder,
    Icmp,
)
from projects.demolab.model import HostConfig, Node
from projects.demolab.vpcs_ping import (
    PingOptions,
    icmp_text,
    latency,
    parse_address,
    ping_line,
)

COMMANDS = (
    "?",
    "arp",
    "clear",
    "dhcp",
    "echo",
    "help",
    "history",
    "ip",
    "ping",
    "save",
    "set",
    "show",
    "sleep",
    "trace",
    "version",
)
ARP_LIFETIME = 120
MAX_TRACE_HOPS = 8


@dataclass
class VpcsCli:
    """One PC's command line."""

    node: Node
    forwarder: Forwarder
    changed: Callable[[], None]
    history: list[str] = field(default_factory=list)
    page_length: int = 0
    has_instant_help: bool = False

    def banner(self) -> str:
        return f"{vpcs_texts.VERSION}\nPress '?' to get help.\n\n"

    def prompt(self) -> str:
        return f"\r{self._host.pcname}> "

    def help(self, line: str) -> str:
        return ""

    def leave(self, key: str) -> None:
        """A PC has no mode to leave."""

    def run(self, line: str) -> Steps:
        words = line.split()
        if not words:
            return
        self.history.append(line.strip())
        yield from self._dispatch(line.strip(), words)
        yield "\n"

    @property
    def _host(self) -> HostConfig:
        assert self.node.host is not None
        return self.node.host

    def _dispatch(self, line: str, words: list[str]) -> Steps:
        found = [name for name in COMMANDS if name.startswith(words[0])]
        if words[0] in found:
            found = [words[0]]
        if not found:
            yield f'Bad command: "{line}". Use ? for help.\n'
        elif len(found) > 1:
            yield "".join(f"{name}\n" for name in found)
        else:
            name = {"?": "help"}.get(found[0], found[0])
            yield from getattr(self, f"_run_{name}")(words[1:])

    def _run_help(self, words: list[str]) -> Steps:
        yield vpcs_texts.HELP

    def _run_version(self, words: list[str]) -> Steps:
        yield f"\n{vpcs_texts.VERSION}"

    def _run_history(self, words: list[str]) -> Steps:
        yield "".join(f"{line}\n" for line in self.history[-50:])

    def _run_echo(self, words: list[str]) -> Steps:
        yield " ".join(words)

    def _run_sleep(self, words: list[str]) -> Steps:
        yield " ".join(words[1:]) + "\n"
        yield Wait(min(int(words[0]), 60) if words and words[0].isdigit() else 0)

    def _run_arp(self, words: list[str]) -> Steps:
        table = self.forwarder.arp.get(self.node.node_id, {})
        lines = []
        for address, entry in table.items():
            left = ARP_LIFETIME - int(time.monotonic() - entry.learned_at)
            if entry.mac and left > 0:
                lines.append(f"{entry.mac}  {address} expires in {left} seconds \n")
        yield "\n" + ("".join(lines) or "arp table is empty\n")

    def _run_show(self, words: list[str]) -> Steps:
        if not words:
            yield vpcs_texts.show(self.node)
        elif words[0] == "?":
            yield vpcs_texts.SHOW_HELP
        elif words[0] == "ip":
            is_list = words[1:2] == ["all"]
            yield (vpcs_texts.show_ip_all if is_list else vpcs_texts.show_ip)(self.node)
        elif "arp".startswith(words[0]):
            yield from self._run_arp([])
        elif "version".startswith(words[0]):
            yield from self._run_version([])
        elif "history".startswith(words[0]):
            yield from self._run_history([])
        elif "ipv6".startswith(words[0]):
            yield vpcs_texts.show_ipv6(self.node)
        elif "echo".startswith(words[0]):
            yield "Echo on\n"
        else:
            yield "Invalid arguments\n"

    def _run_save(self, words: list[str]) -> Steps:
        if words and words[0] != "startup.vpc":
            yield "Invalid filename\n"
            return
        self.node.save()
        self.changed()
        yield "Saving startup configuration to startup.vpc\n.  done\n"

    def _run_set(self, words: list[str]) -> Steps:
        if not words or words[0] == "?":
            yield vpcs_texts.SET_HELP
        elif words[0] == "pcname":
            if len(words) != 2:
                yield "Incomplete command.\n"
            elif not re.fullmatch(r"[A-Za-z0-9_.-]{1,12}", words[1]):
                yield "Hostname is too long. (Maximum 12 characters)\n"
            else:
                self._host.pcname = words[1]
                self.changed()
        elif words[0] in ("echo", "dump"):
            return
        elif words[0] in ("lport", "rport", "rhost"):
            yield "Not available in the simulated lab.\n"
        else:
            yield "Invalid command.\n"

    def _run_clear(self, words: list[str]) -> Steps:
        what = words[0] if words else "?"
        if what == "ip":
            self._host.address = self._host.gateway = None
            self.changed()
            yield "IPv4 address/mask, gateway, DNS, and DHCP cleared\n"
        elif what == "arp":
            self.forwarder.forget(self.node)
        elif what == "hist":
            self.history.clear()
        else:
            yield vpcs_texts.CLEAR_HELP if what == "?" else "Invalid options\n"

    def _run_dhcp(self, words: list[str]) -> Steps:
        for _ in range(3):
            yield "D"
            yield Wait(4)
        yield "\nCan't find dhcp server\n"

    def _run_ip(self, words: list[str]) -> Steps:
        if not words or words[0] == "?":
            yield vpcs_texts.IP_HELP
        elif words[0] == "dhcp":
            yield from self._run_dhcp([])
        elif words[0] == "mtu" and len(words) == 2 and words[1].isdigit():
            if int(words[1]) < 576:
                yield "Invalid MTU. Should be bigger than 576.\n"
            else:
                self._host.mtu = int(words[1])
                self.changed()
        elif words[0] not in ("dns", "domain", "auto"):
            yield from self._set_address(words)

    def _set_address(self, words: list[str]) -> Steps:
        try:
            address, gateway = parse_address(words)
        except ValueError as exc:
            yield f"{exc}\n"
            return
        yield "Checking for duplicate address...\n"
        yield Wait(3)
        # The check asks with no address of its own, so any owner answers.
        owner = self.forwarder.owner_mac(self.node, self.node.ports[0].name, address.ip)
        if owner is not None:
            yield f"{address.ip} is being used by MAC {owner}\n"
            yield "Address not changed\n"
            return
        self._host.address, self._host.gateway = address, gateway
        self.forwarder.forget(self.node)
        self.changed()
        text = f"PC1 : {address.ip} {address.netmask}"
        yield f"{text} gateway {gateway}\n" if gateway else f"{text}\n"

    def _run_ping(self, words: list[str]) -> Steps:
        if not words or words[0] == "?":
            yield vpcs_texts.PING_HELP
            return
        try:
            options = PingOptions.parse(words[1:])
        except ValueError:
            yield "Invalid options\n"
            return
        try:
            destination = IPv4Address(words[0])
        except ValueError:
            yield f"Cannot resolve {words[0]}\n"
            return
        number = 0
        while options.count == 0 or number < options.count:
            number += 1
            outcome = self.forwarder.probe(
                self.node, destination, protocol=options.protocol, ttl=options.ttl
            )
            if outcome.fate is Fate.NO_GATEWAY:
                yield "No gateway found\n"
                return
            if outcome.fate is Fate.NO_ARP:
                yield Wait(3)
                yield f"host ({outcome.sender}) not reachable\n"
                return
            yield Wait(2 if outcome.fate is Fate.TIMEOUT else 1)
            yield ping_line(destination, number, options, outcome)

    def _run_trace(self, words: list[str]) -> Steps:
        if not words or words[0] == "?":
            yield vpcs_texts.TRACE_HELP
            return
        try:
            destination = IPv4Address(words[0])
        except ValueError:
            yield f"Cannot resolve {words[0]}\n"
            return
        hops = MAX_TRACE_HOPS
        if words[1:2] == ["-m"] and len(words) > 2 and words[2].isdigit():
            hops = max(1, min(int(words[2]), 64))
        yield f"trace to {destination}, {hops} hops max, press Ctrl+C to stop\n"
        for ttl in range(1, hops + 1):
            outcome = self.forwarder.probe(
                self.node, destination, protocol="udp", ttl=ttl
            )
            if outcome.fate is Fate.NO_GATEWAY:
                yield "No gateway found\n"
                return
            if outcome.fate is Fate.NO_ARP:
                yield Wait(3)
                yield f"host ({outcome.sender}) not reachable\n"
                return
            yield Wait(3 if outcome.fate is Fate.TIMEOUT else 1)
            if outcome.fate is Fate.TIMEOUT:
                yield f"{ttl:2}     *  *  *\n"
            elif outcome.icmp is Icmp.TTL_EXCEEDED:
                times = "  ".join(f"{latency(outcome):.3f} ms" for _ in range(3))
                yield f"{ttl:2}   {outcome.sender}   {times}\n"
            else:
                detail = icmp_text(outcome) if outcome.icmp in TYPE_AND_CODE else ""
                yield (
                    f"{ttl:2}   *{outcome.sender}   {latency(outcome):.3f} ms{detail}\n"
                )
                return
