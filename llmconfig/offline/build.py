"""Rebuilds the network from the topology and the console output."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Interface
from typing import Any

from llmconfig.offline import parse_ios, parse_vpcs
from llmconfig.offline.acl import AclRule
from llmconfig.offline.evidence import Evidence
from llmconfig.offline.network import (
    Device,
    Interface,
    Network,
    Role,
    Route,
    Wire,
    port_key,
)
from llmconfig.offline.quotes import Quote

HOST_COMMANDS = ("show ip", "show arp")
BRIEF = "show ip interface brief"
ROUTES = "show ip route"
CONFIG = "show running-config"
ACLS = "show access-lists"
ROUTER_COMMANDS = (BRIEF, ROUTES, CONFIG, ACLS, "show ip arp")
_SWITCHES = {"ethernet_switch", "ethernet_hub", "frame_relay_switch", "atm_switch"}


def build_network(evidence: Evidence) -> Network:
    wires = tuple(_wire(evidence, link) for link in evidence.links())
    devices = {}
    for node in evidence.nodes():
        name = str(node.get("name", ""))
        device = _device(evidence, node)
        if device.role is Role.HOST:
            device = _read_host(evidence, device, _first_port(wires, name))
        elif device.role is Role.ROUTER:
            device = _read_router(evidence, device)
        devices[name] = device
    return Network(devices, wires)


def role_of(node: Mapping[str, Any]) -> Role:
    console, kind = node.get("console"), str(node.get("type", ""))
    if console == "vpcs" or kind == "vpcs":
        return Role.HOST
    if console == "ios":
        return Role.ROUTER
    return Role.SWITCH if kind in _SWITCHES else Role.OTHER


def _device(evidence: Evidence, node: Mapping[str, Any]) -> Device:
    name, status = str(node.get("name", "")), node.get("status")
    quote = evidence.topology_quote({"name": name, "status": status})
    role = role_of(node)
    problem = evidence.problem(name)
    quotes = {"status": quote} if quote else {}
    if problem:
        quotes["problem"] = Quote(name, "", problem)
    return Device(
        name=name,
        role=role,
        is_started=status == "started",
        is_known=role is Role.SWITCH,
        problem=problem,
        quotes=quotes,
    )


def _wire(evidence: Evidence, link: Mapping[str, Any]) -> Wire:
    a, b = str(link.get("a", "")), str(link.get("b", ""))
    a_port, b_port = str(link.get("a_port", "")), str(link.get("b_port", ""))
    wanted = {"a": a, "a_port": link.get("a_port"), "b": b}
    quote = evidence.topology_quote({**wanted, "suspended": link.get("suspended")})
    return Wire(
        a=(a, port_key(a_port)),
        b=(b, port_key(b_port)),
        is_suspended=bool(link.get("suspended")),
        quote=quote or Quote("", "read_topology", ""),
        label=f"{a} {a_port} – {b} {b_port}",
    )


def _first_port(wires: tuple[Wire, ...], name: str) -> str:
    ends = [end for wire in wires for end in (wire.a, wire.b) if end[0] == name]
    return ends[0][1] if ends else "e0"


def _read_host(evidence: Evidence, device: Device, port: str) -> Device:
    output = evidence.output(device.name, "show ip")
    found = parse_vpcs.parse_show_ip(output) if output else None
    if found is None:
        return device
    address = Quote(device.name, "show ip", found.address_line)
    gateway = Quote(device.name, "show ip", found.gateway_line)
    interface = Interface(port, port, found.address, quotes={"address": address})
    return replace(
        device,
        is_known=True,
        interfaces=(interface,),
        gateway=found.gateway,
        quotes={**device.quotes, "gateway": gateway},
    )


def _read_router(evidence: Evidence, device: Device) -> Device:
    name = device.name
    brief = parse_ios.parse_interface_brief(evidence.output(name, BRIEF) or "")
    config = parse_ios.parse_running_config(evidence.output(name, CONFIG) or "")
    table = parse_ios.parse_routes(evidence.output(name, ROUTES) or "")
    if not brief and not config.interfaces:
        return device
    interfaces = {}
    for section in config.interfaces.values():
        interfaces[port_key(section.name)] = _from_config(name, section)
    for line in brief:
        port = port_key(line.name)
        known = interfaces.get(port, Interface(port, line.name))
        interfaces[port] = _with_brief(name, known, line, table)
    return replace(
        device,
        is_known=True,
        interfaces=tuple(interfaces.values()),
        routes=_routes(name, config, table),
        acls=_acls(evidence, name, config),
        quotes={**device.quotes, **_last_resort(evidence, name)},
    )


def _from_config(name: str, section: parse_ios.ConfigInterface) -> Interface:
    lines = {
        "section": section.line,
        "address": section.address_line,
        "in": section.acl_in_line,
        "out": section.acl_out_line,
    }
    return Interface(
        port=port_key(section.name),
        name=section.name,
        address=section.address,
        is_down=section.is_shut,
        is_shut=section.is_shut,
        acl_in=section.acl_in,
        acl_out=section.acl_out,
        has_proxy_arp=section.has_proxy_arp,
        quotes={key: Quote(name, CONFIG, line) for key, line in lines.items() if line},
    )


def _with_brief(
    name: str,
    known: Interface,
    line: parse_ios.BriefLine,
    table: list[parse_ios.TableRoute],
) -> Interface:
    """What is in force goes before what is configured."""
    quote = Quote(name, BRIEF, line.line)
    address = known.address
    if line.address and (address is None or address.ip != line.address):
        address = _masked(line, table)
    return replace(
        known,
        address=address,
        is_down=not line.is_up,
        is_shut=line.is_shut,
        quotes={"address": quote, **known.quotes, "state": quote},
    )


def _masked(
    line: parse_ios.BriefLine, table: list[parse_ios.TableRoute]
) -> IPv4Interface | None:
    """`show ip interface brief` has no masks: the connected route has."""
    for route in table:
        is_here = port_key(route.interface) == port_key(line.name)
        if line.address and route.code == "C" and is_here:
            return IPv4Interface(f"{line.address}/{route.network.prefixlen}")
    return None


def _routes(
    name: str, config: parse_ios.RunningConfig, table: list[parse_ios.TableRoute]
) -> tuple[Route, ...]:
    """Static ones from the configuration, learnt ones from the table."""
    static = [
        Route(
            route.network,
            route.next_hop,
            port_key(route.interface) if route.interface else "",
            True,
            Quote(name, CONFIG, route.line),
        )
        for route in config.routes
    ]
    learnt = [
        Route(route.network, route.next_hop, "", False, Quote(name, ROUTES, route.line))
        for route in table
        if route.next_hop and (route.code[0] != "S" or not config.interfaces)
    ]
    return (*static, *learnt)


def _acls(
    evidence: Evidence, name: str, config: parse_ios.RunningConfig
) -> dict[str, tuple[AclRule, ...]]:
    shown = parse_ios.parse_access_lists(evidence.output(name, ACLS) or "")
    rules = shown or config.rules
    owners = dict.fromkeys(owner for owner, _ in rules)
    return {
        owner: tuple(rule for other, rule in rules if other == owner)
        for owner in owners
    }


def _last_resort(evidence: Evidence, name: str) -> dict[str, Quote]:
    for line in (evidence.output(name, ROUTES) or "").splitlines():
        if line.startswith("Gateway of last resort"):
            return {"last_resort": Quote(name, ROUTES, line.strip())}
    return {}
