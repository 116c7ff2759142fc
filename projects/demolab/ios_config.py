"""Configuration mode of a simulated router."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from projects.demolab import access_lists
from projects.demolab.ios_grammar import BadCommand, Grammar, interface_name, marker
from projects.demolab.model import (
    AccessList,
    InterfaceConfig,
    Node,
    RouterConfig,
    StaticRoute,
)

INCOMPLETE = "% Incomplete command.\n\n"
ADDRESSES = "<ip> <ip>"


class ConfigMode:
    """What the lines of configuration mode do; keeps the submode it is in."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.submode = ""
        self._interface = ""
        self._access_list = ""
        self._grammars = {
            "": _grammar(self._global_commands()),
            "config-if": _grammar(self._interface_commands()),
            "config-ext-nacl": _grammar(self._access_list_commands()),
        }
        self._grammars["config-std-nacl"] = self._grammars["config-ext-nacl"]

    def run(self, line: str, prompt_width: int) -> str:
        """Apply one line; the text to print is usually empty."""
        self._line, self._prompt_width = line, prompt_width
        try:
            match = self._grammars[self.submode].find(line, prompt_width)
        except BadCommand as exc:
            if not self.submode or "Invalid" not in str(exc):
                raise
            # A command of the global mode leaves the submode.
            match = self._grammars[""].find(line, prompt_width)
            self.submode = ""
        text = match.handler(*match.arguments)
        return str(text or "")

    def choices(self, line: str) -> list[str]:
        return self._grammars[self.submode].choices(line)

    def leave(self) -> bool:
        """Go up one level; False when there is none left."""
        had_submode = bool(self.submode)
        self.submode = ""
        return had_submode

    @property
    def _config(self) -> RouterConfig:
        assert self._node.router is not None
        return self._node.router

    @property
    def _current(self) -> InterfaceConfig:
        return self._config.interfaces[self._interface]

    def _global_commands(self) -> dict[str, Callable[..., str | None]]:
        return {
            "hostname <word>": self._hostname,
            "no hostname": lambda: self._hostname("Router"),
            "interface <interface>": self._enter_interface,
            "no interface <interface>": self._remove_interface,
            f"ip route {ADDRESSES} <interface>": self._add_route,
            f"ip route {ADDRESSES} <interface> <ip>": self._add_route,
            f"ip route {ADDRESSES} <ip>": self._add_route,
            f"ip route {ADDRESSES} <ip> <number>": self._add_route,
            f"no ip route {ADDRESSES}": self._remove_route,
            f"no ip route {ADDRESSES} <interface>": self._remove_route,
            f"no ip route {ADDRESSES} <ip>": self._remove_route,
            f"no ip route {ADDRESSES} <ip> <number>": self._remove_route,
            "access-list <number> <line>": self._add_numbered_entry,
            "no access-list <number>": self._remove_access_list,
            "no access-list <number> <line>": self._remove_access_list,
            "ip access-list extended <word>": lambda name: self._enter_list(name, True),
            "ip access-list standard <word>": lambda name: self._enter_list(
                name, False
            ),
            "no ip access-list extended <word>": self._remove_access_list,
            "no ip access-list standard <word>": self._remove_access_list,
            "ip routing": lambda: None,
            "ip cef": lambda: None,
            "no ip domain lookup": lambda: None,
            "no ip domain-lookup": lambda: None,
        }

    def _interface_commands(self) -> dict[str, Callable[..., str | None]]:
        return {
            f"ip address {ADDRESSES}": self._set_address,
            "no ip address": self._clear_address,
            f"no ip address {ADDRESSES}": self._clear_address,
            "shutdown": lambda: self._set_shutdown(True),
            "no shutdown": lambda: self._set_shutdown(False),
            "description <line>": self._describe,
            "no description": lambda: self._describe(""),
            "ip access-group <word> in": lambda name: self._apply(name, "in"),
            "ip access-group <word> out": lambda name: self._apply(name, "out"),
            "no ip access-group in": lambda: self._apply("", "in"),
            "no ip access-group out": lambda: self._apply("", "out"),
            "no ip access-group <word> in": lambda name: self._apply("", "in"),
            "no ip access-group <word> out": lambda name: self._apply("", "out"),
            "ip proxy-arp": lambda: self._set_proxy_arp(True),
            "no ip proxy-arp": lambda: self._set_proxy_arp(False),
            "duplex auto": lambda: None,
            "duplex full": lambda: None,
            "speed auto": lambda: None,
            "speed <number>": lambda number: None,
        }

    def _access_list_commands(self) -> dict[str, Callable[..., str | None]]:
        return {
            "permit <line>": lambda rest: self._add_entry(f"permit {rest}"),
            "deny <line>": lambda rest: self._add_entry(f"deny {rest}"),
            "<number> <line>": lambda number, rest: self._add_entry(rest, int(number)),
            "no <number>": self._remove_entry,
        }

    def _hostname(self, name: str) -> None:
        self._config.hostname = name

    def _enter_interface(self, text: str) -> str | None:
        name = interface_name(text) or ""
        if name not in self._config.interfaces:
            if not name.startswith("Loopback"):
                return self._invalid(text)
            self._config.interfaces[name] = InterfaceConfig(is_shutdown=False)
        self.submode, self._interface = "config-if", name
        return None

    def _remove_interface(self, text: str) -> str | None:
        name = interface_name(text) or ""
        if not name.startswith("Loopback"):
            return "% Removal of physical interfaces is not permitted.\n"
        self._config.interfaces.pop(name, None)
        return None

    def _add_route(
        self, address: str, mask: str, target: str, extra: str = ""
    ) -> str | None:
        network = self._network(address, mask)
        if isinstance(network, str):
            return network
        route = self._route(network, target, extra)
        if route.interface and route.interface not in self._config.interfaces:
            return self._invalid(target)
        if route.next_hop is not None and self._node.owns(route.next_hop):
            return "%Invalid next hop address (it's this router)\n"
        if route not in self._config.routes:
            self._config.routes.append(route)
        return None

    def _remove_route(
        self, address: str, mask: str, target: str = "", extra: str = ""
    ) -> str | None:
        network = self._network(address, mask)
        if isinstance(network, str):
            return network
        wanted = self._route(network, target, extra) if target else None
        kept = [
            route
            for route in self._config.routes
            if route.network != network
            or (
                wanted is not None
                and (route.next_hop, route.interface)
                != (wanted.next_hop, wanted.interface)
            )
        ]
        if len(kept) == len(self._config.routes):
            return "%No matching route to delete\n"
        self._config.routes = kept
        return None

    @staticmethod
    def _route(network: IPv4Network, target: str, extra: str) -> StaticRoute:
        name = interface_name(target)
        if name is not None:
            next_hop = IPv4Address(extra) if extra else None
            return StaticRoute(network, next_hop, name)
        distance = int(extra) if extra else 1
        return StaticRoute(network, IPv4Address(target), "", distance)

    def _network(self, address: str, mask: str) -> IPv4Network | str:
        try:
            network = IPv4Network(f"{address}/{mask}")
        except ValueError:
            network = None
        if network is None or str(network.netmask) != mask:
            return "%Inconsistent address and mask\n"
        return network

    def _add_numbered_entry(self, number: str, rest: str) -> str | None:
        if not access_lists.is_valid_number(number):
            return self._invalid(number)
        is_extended = access_lists.is_extended_number(number)
        return self._insert(number, rest, is_extended=is_extended)

    def _enter_list(self, name: str, is_extended: bool) -> str | None:
        found = self._config.access_lists.setdefault(name, AccessList(is_extended))
        if found.is_extended != is_extended:
            return "%A named access list with this name already exists\n"
        self.submode = "config-ext-nacl" if is_extended else "config-std-nacl"
        self._access_list = name
        return None

    def _add_entry(self, rest: str, sequence: int = 0) -> str | None:
        is_extended = self.submode == "config-ext-nacl"
        return self._insert(
            self._access_list, rest, is_extended=is_extended, sequence=sequence
        )

    def _insert(
        self, name: str, rest: str, *, is_extended: bool, sequence: int = 0
    ) -> str | None:
        words = rest.split()
        if words[0] == "remark":
            return None
        try:
            entry = access_lists.parse(words, is_extended=is_extended)
        except access_lists.BadEntry as exc:
            if exc.index >= len(words):
                return INCOMPLETE
            return self._invalid(words[exc.index])
        entry.sequence = sequence
        access_lists.add(
            self._config.access_lists.setdefault(name, AccessList(is_extended)), entry
        )
        return None

    def _remove_entry(self, sequence: str) -> None:
        found = self._config.access_lists[self._access_list]
        found.entries = [e for e in found.entries if e.sequence != int(sequence)]

    def _remove_access_list(self, name: str, rest: str = "") -> None:
        # As on the real thing, naming one entry removes the whole numbered list.
        self._config.access_lists.pop(name, None)

    def _set_address(self, address: str, mask: str) -> str | None:
        try:
            own = IPv4Interface(f"{address}/{mask}")
        except ValueError:
            own = None
        # A wildcard is no mask, though Python reads it as one.
        if own is None or str(own.netmask) != mask:
            return f"Bad mask 0x{int(IPv4Address(mask)):X} for address {address}\n"
        network = own.network
        edges = (network.network_address, network.broadcast_address)
        if network.prefixlen < 31 and own.ip in edges:
            return f"Bad mask /{network.prefixlen} for address {address}\n"
        for name, other in self._config.interfaces.items():
            if name == self._interface or other.address is None or other.is_shutdown:
                continue
            if other.address.network.overlaps(network):
                return (
                    f"% {other.address.network.network_address} overlaps with {name}\n"
                )
        self._current.address = own
        return None

    def _clear_address(self, address: str = "", mask: str = "") -> None:
        self._current.address = None

    def _set_shutdown(self, is_shutdown: bool) -> None:
        self._current.is_shutdown = is_shutdown

    def _describe(self, text: str) -> None:
        self._current.description = text

    def _apply(self, name: str, direction: str) -> None:
        if direction == "in":
            self._current.access_in = name
        else:
            self._current.access_out = name

    def _set_proxy_arp(self, is_on: bool) -> None:
        self._current.has_proxy_arp = is_on

    def _invalid(self, word: str) -> str:
        return marker(self._prompt_width + max(self._line.find(word), 0))


def _grammar(commands: dict[str, Callable[..., str | None]]) -> Grammar:
    grammar = Grammar()
    for pattern, handler in commands.items():
        grammar.add(pattern, handler)
    return grammar
