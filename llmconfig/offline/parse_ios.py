"""Reads what an IOS console prints: interfaces, routes, configuration."""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from llmconfig.offline.acl import AclRule, parse_rule
from llmconfig.offline.parse_vpcs import ArpEntry, to_address, to_interface

_BRIEF = re.compile(
    r"^(?P<name>[A-Za-z][\w/.:-]*\d)\s+(?P<ip>\S+)\s+(?:YES|NO)\s+\S+\s+"
    r"(?P<status>administratively down|up|down|deleted|reset)\s+(?P<protocol>up|down)",
    re.I,
)
_SUBNETTED = re.compile(r"^\s+\d+\.\d+\.\d+\.\d+/(\d+) is subnetted")
_ROUTE = re.compile(
    r"^(?P<code>[A-Z]\*?(?: ?[A-Z0-9]{1,2})?\*?)\s+"
    r"(?P<net>\d+\.\d+\.\d+\.\d+)(?:/(?P<len>\d+))?\s+"
    r"(?P<rest>\[.*|is directly connected.*|is a summary.*)$"
)
_VIA = re.compile(r"via (\d+\.\d+\.\d+\.\d+)(?:.*,\s*([A-Za-z]+[\d/.]+))?")
_CONNECTED = re.compile(r"directly connected,\s*(\S+)")
_ARP = re.compile(
    r"^Internet\s+(\d+\.\d+\.\d+\.\d+)\s+\S+\s+([0-9a-f.]{14}|Incomplete)", re.I
)
_LIST_HEAD = re.compile(r"^(?:Standard|Extended) IP access list (\S+)", re.I)


@dataclass(frozen=True)
class BriefLine:
    """A line of `show ip interface brief`."""

    name: str
    address: IPv4Address | None
    is_shut: bool
    is_up: bool
    line: str


@dataclass(frozen=True)
class TableRoute:
    """A line of `show ip route`."""

    code: str
    network: IPv4Network
    next_hop: IPv4Address | None
    interface: str
    line: str


@dataclass
class ConfigInterface:
    """An interface section of the running configuration."""

    name: str
    line: str
    address: IPv4Interface | None = None
    address_line: str = ""
    is_shut: bool = False
    has_proxy_arp: bool = True
    acl_in: str = ""
    acl_out: str = ""
    acl_in_line: str = ""
    acl_out_line: str = ""


@dataclass(frozen=True)
class ConfigRoute:
    """An `ip route` line."""

    network: IPv4Network
    next_hop: IPv4Address | None
    interface: str
    line: str


@dataclass
class RunningConfig:
    interfaces: dict[str, ConfigInterface] = field(default_factory=dict)
    routes: list[ConfigRoute] = field(default_factory=list)
    rules: list[tuple[str, AclRule]] = field(default_factory=list)


def parse_interface_brief(text: str) -> list[BriefLine]:
    lines = []
    for line in text.splitlines():
        found = _BRIEF.match(line.strip())
        if found:
            is_shut = found["status"].lower().startswith("admin")
            is_up = found["status"].lower() == "up" and found["protocol"] == "up"
            address = to_address(found["ip"])
            lines.append(
                BriefLine(found["name"], address, is_shut, is_up, line.strip())
            )
    return lines


def parse_routes(text: str) -> list[TableRoute]:
    routes, length = [], "32"
    for line in text.splitlines():
        header = _SUBNETTED.match(line)
        if header:
            length = header[1]
            continue
        found = _ROUTE.match(line)
        if not found or found["code"].startswith("L"):
            continue
        network = _network(found["net"], found["len"] or length)
        if network is None:
            continue
        via = _VIA.search(found["rest"])
        connected = _CONNECTED.search(found["rest"])
        routes.append(
            TableRoute(
                code=found["code"],
                network=network,
                next_hop=to_address(via[1]) if via else None,
                interface=connected[1]
                if connected
                else ((via[2] or "") if via else ""),
                line=line.strip(),
            )
        )
    return routes


def parse_arp(text: str) -> list[ArpEntry]:
    entries = []
    for line in text.splitlines():
        found = _ARP.match(line.strip())
        address = to_address(found[1]) if found else None
        if found and address and found[2].lower() != "incomplete":
            entries.append(ArpEntry(address, found[2].lower(), line.strip()))
    return entries


def parse_access_lists(text: str) -> list[tuple[str, AclRule]]:
    """Rules of `show access-lists`, each with the name of its list."""
    rules: list[tuple[str, AclRule]] = []
    name = ""
    for line in text.splitlines():
        head = _LIST_HEAD.match(line.strip())
        if head:
            name = head[1]
            continue
        rule = parse_rule(line.strip(), line=line.strip(), command="show access-lists")
        if name and rule:
            rules.append((name, rule))
    return rules


def parse_running_config(text: str) -> RunningConfig:
    config = RunningConfig()
    interface: ConfigInterface | None = None
    acl = ""
    for raw in text.splitlines():
        line = raw.strip()
        words = line.split()
        if not raw.startswith(" "):
            interface, acl = None, ""
        if not words:
            continue
        if words[0] == "interface" and len(words) > 1:
            interface = ConfigInterface(name="".join(words[1:]), line=line)
            config.interfaces[interface.name] = interface
        elif words[:2] == ["ip", "access-list"] and len(words) > 3:
            acl = words[3]
        elif words[:2] == ["ip", "route"]:
            route = _config_route(line, words[2:])
            if route:
                config.routes.append(route)
        elif words[0] == "access-list" and len(words) > 2:
            _add_rule(config, words[1], " ".join(words[2:]), line)
        elif acl:
            _add_rule(config, acl, line, line)
        elif interface:
            _interface_line(interface, words, line)
    return config


def _add_rule(config: RunningConfig, name: str, text: str, line: str) -> None:
    rule = parse_rule(text, line=line, command="show running-config")
    if rule:
        config.rules.append((name, rule))


def _interface_line(interface: ConfigInterface, words: list[str], line: str) -> None:
    if words == ["shutdown"]:
        interface.is_shut = True
    elif words == ["no", "ip", "proxy-arp"]:
        interface.has_proxy_arp = False
    elif (
        words[:2] == ["ip", "address"] and len(words) >= 4 and "secondary" not in words
    ):
        interface.address = to_interface(f"{words[2]}/{words[3]}")
        interface.address_line = line
    elif words[:2] == ["ip", "access-group"] and len(words) == 4:
        if words[3] == "in":
            interface.acl_in, interface.acl_in_line = words[2], line
        else:
            interface.acl_out, interface.acl_out_line = words[2], line


def _config_route(line: str, words: list[str]) -> ConfigRoute | None:
    if len(words) < 3:
        return None
    network = _network(words[0], words[1])
    if network is None:
        return None
    hops = [found for found in (to_address(word) for word in words[2:4]) if found]
    interface = "" if to_address(words[2]) else words[2]
    return ConfigRoute(network, hops[0] if hops else None, interface, line)


def _network(address: str, mask: str) -> IPv4Network | None:
    try:
        return IPv4Network(f"{address}/{mask}", strict=False)
    except ValueError:
        return None
