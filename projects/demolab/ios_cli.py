"""The console of a simulated router: modes, and the commands that do something."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from projects.demolab import ios_filter
from projects.demolab.cli import Ask, Paged, Steps, Wait
from projects.demolab.forwarding import Fate, Forwarder, Icmp, Outcome
from projects.demolab.ios_config import ConfigMode
from projects.demolab.ios_grammar import (
    BadCommand,
    Grammar,
    interface_name,
)
from projects.demolab.ios_show import Show
from projects.demolab.model import Node, RouterConfig

PING_COUNT = 5
MAX_TRACE_HOPS = 30
MARKS = {Icmp.HOST_UNREACHABLE: "U", Icmp.PROHIBITED: "U", Icmp.TTL_EXCEEDED: "&"}
TRACE_NOTES = {Icmp.HOST_UNREACHABLE: " !H", Icmp.PROHIBITED: " !A"}


@dataclass
class IosCli:
    """One router's command line."""

    node: Node
    forwarder: Forwarder
    changed: Callable[[], None]
    reload: Callable[[], None]
    history: list[str] = field(default_factory=list)
    page_length: int = 24
    has_instant_help: bool = True

    def __post_init__(self) -> None:
        self._show = Show(self.node, self.forwarder)
        self._is_enabled = True
        self._config_mode: ConfigMode | None = None
        self._exec = self._exec_grammar()
        self._user_exec = self._exec_grammar(is_enabled=False)

    def banner(self) -> str:
        return (
            "\n*** SIMULATED ROUTER, part of the simulated lab (not Cisco IOS) ***\n"
            "Connected to a simulated console. Press ? for help.\n\n"
        )

    def prompt(self) -> str:
        name = self._router.hostname
        if self._config_mode is not None:
            return f"{name}({self._config_mode.submode or 'config'})#"
        return f"{name}{'#' if self._is_enabled else '>'}"

    def help(self, line: str) -> str:
        if self._config_mode is not None:
            choices = self._config_mode.choices(line)
        else:
            grammar = self._exec if self._is_enabled else self._user_exec
            choices = grammar.choices(line)
        if not choices:
            return "% Unrecognized command\n"
        return "".join(f"  {choice}\n" for choice in choices) + "\n"

    def leave(self, key: str) -> None:
        if self._config_mode is not None:
            self._config_mode = None

    def run(self, line: str) -> Steps:
        line = line.rstrip()
        words = line.split()
        if not words or words[0].startswith("!"):
            return
        self.history.append(line.strip())
        try:
            if self._config_mode is not None:
                yield from self._configure(line, words)
            else:
                yield from self._execute(line)
        except BadCommand as exc:
            yield str(exc)

    @property
    def _router(self) -> RouterConfig:
        assert self.node.router is not None
        return self.node.router

    def _configure(self, line: str, words: list[str]) -> Steps:
        assert self._config_mode is not None
        word = words[0].lower()
        if word == "do" and len(words) > 1:
            yield from self._execute(line[line.index(words[1]) :])
        elif word == "end":
            self._config_mode = None
        elif len(word) > 1 and "exit".startswith(word):
            if not self._config_mode.leave():
                self._config_mode = None
        else:
            text = self._config_mode.run(line, len(self.prompt()))
            self.changed()
            yield text

    def _execute(self, line: str) -> Steps:
        command, output_filter = ios_filter.split(line)
        grammar = self._exec if self._is_enabled else self._user_exec
        match = grammar.find(command, len(self.prompt()))
        result = match.handler(*match.arguments)
        if isinstance(result, str):
            yield Paged(output_filter(result))
        elif result is not None:
            yield from result

    def _exec_grammar(self, *, is_enabled: bool = True) -> Grammar:
        show = self._show
        commands: dict[str, Callable[..., str | Steps | None]] = {
            "enable": self._enable,
            "disable": self._disable,
            "exit": self._disable,
            "logout": self._disable,
            "terminal length <number>": self._terminal_length,
            "terminal width <number>": lambda number: None,
            "terminal no monitor": lambda: None,
            "terminal monitor": lambda: None,
            "ping <ip>": self._ping,
            "ping ip <ip>": self._ping,
            "ping <ip> source <interface>": self._ping,
            "ping <ip> source <ip>": self._ping,
            "ping <ip> repeat <number>": self._ping_repeat,
            "ping <ip> repeat <number> source <interface>": self._ping_repeat,
            "ping <ip> source <interface> repeat <number>": (
                lambda ip, source, count: self._ping_repeat(ip, count, source)
            ),
            "traceroute <ip>": self._traceroute,
            "show ip interface brief": show.ip_interface_brief,
            "show ip interface": show.ip_interface,
            "show ip interface <interface>": show.ip_interface,
            "show interfaces": show.interfaces,
            "show interfaces <interface>": show.interfaces,
            "show interfaces description": show.description,
            "show ip route": show.ip_route,
            "show ip route <ip>": show.ip_route,
            "show ip route static": lambda: show.ip_route_kind("S"),
            "show ip route connected": lambda: show.ip_route_kind("CL"),
            "show ip protocols": show.ip_protocols,
            "show ip arp": show.arp,
            "show arp": show.arp,
            "show ip access-lists": show.access_lists,
            "show ip access-lists <word>": show.access_lists,
            "show access-lists": show.access_lists,
            "show access-lists <word>": show.access_lists,
            "show version": show.version,
            "show cdp neighbors": show.cdp_neighbors,
            "show logging": show.logging,
            "show clock": show.clock,
            "show history": self._show_history,
        }
        if is_enabled:
            commands |= {
                "show running-config": show.running_config,
                "show running-config interface <interface>": show.running_interface,
                "show startup-config": show.startup_config,
                "configure terminal": self._enter_configuration,
                "configure": self._ask_configuration,
                "write": self._save,
                "write memory": self._save,
                "copy running-config startup-config": self._copy,
                "clear arp-cache": lambda: self.forwarder.forget(self.node),
                "clear ip arp <ip>": lambda ip: self.forwarder.forget(self.node),
                "clear access-list counters": self._clear_counters,
                "reload": self._reload,
            }
        grammar = Grammar()
        for pattern, handler in commands.items():
            grammar.add(pattern, handler)
        return grammar

    def _enable(self) -> None:
        self._is_enabled = True

    def _disable(self) -> None:
        self._is_enabled = False

    def _terminal_length(self, number: str) -> None:
        self.page_length = min(int(number), 512)

    def _show_history(self) -> str:
        return "".join(f"  {line}\n" for line in self.history[-20:])

    def _enter_configuration(self) -> Steps:
        self._config_mode = ConfigMode(self.node)
        yield "Enter configuration commands, one per line.  End with CNTL/Z.\n"

    def _ask_configuration(self) -> Steps:
        answer = yield Ask("Configuring from terminal, memory, or network [terminal]? ")
        if "terminal".startswith(answer.strip().lower()):
            yield from self._enter_configuration()
        else:
            yield '?Must be "terminal"\n'

    def _save(self) -> Steps:
        yield "Building configuration...\n"
        yield Wait(1)
        self.node.save()
        self.changed()
        yield "[OK]\n"

    def _copy(self) -> Steps:
        answer = yield Ask("Destination filename [startup-config]? ")
        if answer.strip() in ("", "startup-config"):
            yield from self._save()
        else:
            yield "%Error opening that file (Permission denied)\n"

    def _reload(self) -> Steps:
        answer = yield Ask("Proceed with reload? [confirm]")
        if answer.strip().lower() in ("", "y", "yes"):
            self.reload()

    def _clear_counters(self) -> None:
        for found in self._router.access_lists.values():
            for entry in found.entries:
                entry.hits = 0

    def _source(self, text: str) -> IPv4Address | None:
        name = interface_name(text)
        if name is None:
            address = IPv4Address(text)
            return address if self.node.owns(address) else None
        own = self.node.address(name) if name in self._router.interfaces else None
        return own.ip if own else None

    def _ping_repeat(self, target: str, count: str, source: str = "") -> Steps:
        yield from self._ping(target, source, max(1, min(int(count), 1000)))

    def _ping(self, target: str, source: str = "", count: int = PING_COUNT) -> Steps:
        destination = IPv4Address(target)
        own = self._source(source) if source else None
        if source and own is None:
            yield (
                "% Invalid source address- IP address not on any of our up interfaces\n"
            )
            return
        yield (
            "Type escape sequence to abort.\n"
            f"Sending {count}, 100-byte ICMP Echos to {destination}, "
            "timeout is 2 seconds:\n"
        )
        if own is not None:
            yield f"Packet sent with a source address of {own}\n"
        times: list[int] = []
        for _ in range(count):
            is_new = self._needs_arp(destination)
            outcome = self.forwarder.probe(self.node, destination, source=own)
            # The packet that waits for the first ARP answer is dropped.
            if outcome.fate is Fate.REPLY and not is_new:
                times.append(round(4 + outcome.hops * random.uniform(8, 16)))
            yield Wait(2 if outcome.fate is Fate.TIMEOUT else 1)
            yield "." if is_new else _mark(outcome)
        yield f"\nSuccess rate is {len(times) * 100 // count} percent"
        yield f" ({len(times)}/{count})"
        if times:
            average = sum(times) // len(times)
            yield f", round-trip min/avg/max = {min(times)}/{average}/{max(times)} ms"
        yield "\n"

    def _needs_arp(self, destination: IPv4Address) -> bool:
        """Whether the first packet must wait until ARP has an answer."""
        if self.node.owns(destination):
            return False
        return not self.forwarder.knows_next_hop(self.node, destination)

    def _traceroute(self, target: str) -> Steps:
        destination = IPv4Address(target)
        yield (
            "Type escape sequence to abort.\n"
            f"Tracing the route to {destination}\n"
            "VRF info: (vrf in name/id, vrf out name/id)\n"
        )
        for ttl in range(1, MAX_TRACE_HOPS + 1):
            outcome = self.forwarder.probe(
                self.node, destination, protocol="udp", ttl=ttl
            )
            yield Wait(3 if outcome.fate is Fate.TIMEOUT else 1)
            if outcome.fate is Fate.TIMEOUT:
                yield f"{ttl:3}  *  *  * \n"
                continue
            note = TRACE_NOTES.get(outcome.icmp, "") if outcome.icmp else ""
            times = " ".join(
                f"{round(4 + outcome.hops * random.uniform(8, 16))} msec{note}"
                for _ in range(3)
            )
            yield f"{ttl:3} {outcome.sender} {times}\n"
            if outcome.icmp is not Icmp.TTL_EXCEEDED:
                return


def _mark(outcome: Outcome) -> str:
    if outcome.fate is Fate.REPLY:
        return "!"
    if outcome.fate is Fate.ERROR and outcome.icmp is not None:
        return MARKS.get(outcome.icmp, "U")
    return "."
