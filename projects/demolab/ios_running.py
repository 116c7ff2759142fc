"""Writes a router's configuration as text, in the layout routers use."""

from __future__ import annotations

from projects.demolab import access_lists
from projects.demolab.model import InterfaceConfig, RouterConfig


def configuration(config: RouterConfig) -> str:
    """The body from `version` to `end`."""
    lines = [
        "!",
        "version 15.2",
        "service timestamps debug datetime msec",
        "service timestamps log datetime msec",
        "!",
        f"hostname {config.hostname}",
        "!",
        "boot-start-marker",
        "boot-end-marker",
        "!",
        "no aaa new-model",
        "no ip icmp rate-limit unreachable",
        "ip cef",
        "!",
        "no ip domain lookup",
        "no ipv6 cef",
        "!",
    ]
    for name, interface in config.interfaces.items():
        lines += [*interface_lines(name, interface), "!"]
    lines += ["ip forward-protocol nd", "!", "no ip http server", "!"]
    lines += [*route_lines(config), "!"]
    lists = access_list_lines(config)
    if lists:
        lines += [*lists, "!"]
    lines += [
        "control-plane",
        "!",
        "line con 0",
        " exec-timeout 0 0",
        " privilege level 15",
        " logging synchronous",
        "line aux 0",
        "line vty 0 4",
        " login",
        "!",
        "end",
    ]
    return "\n".join(lines) + "\n"


def interface_lines(name: str, interface: InterfaceConfig) -> list[str]:
    lines = [f"interface {name}"]
    if interface.description:
        lines.append(f" description {interface.description}")
    if interface.address is None:
        lines.append(" no ip address")
    else:
        lines.append(f" ip address {interface.address.with_netmask.replace('/', ' ')}")
    if interface.access_in:
        lines.append(f" ip access-group {interface.access_in} in")
    if interface.access_out:
        lines.append(f" ip access-group {interface.access_out} out")
    if not interface.has_proxy_arp:
        lines.append(" no ip proxy-arp")
    if interface.is_shutdown:
        lines.append(" shutdown")
    if not name.startswith("Loopback"):
        lines += [" duplex auto", " speed auto"]
    return lines


def route_lines(config: RouterConfig) -> list[str]:
    lines = []
    for route in sorted(config.routes, key=lambda r: (r.network, r.distance)):
        parts = [
            "ip route",
            str(route.network.network_address),
            str(route.network.netmask),
            route.interface,
            str(route.next_hop) if route.next_hop else "",
            str(route.distance) if route.distance != 1 else "",
        ]
        lines.append(" ".join(part for part in parts if part))
    return lines


def access_list_lines(config: RouterConfig) -> list[str]:
    lines = []
    for name, found in config.access_lists.items():
        if name.isdigit():
            lines += [
                f"access-list {name} "
                f"{access_lists.text(entry, is_extended=found.is_extended)}"
                for entry in found.entries
            ]
        else:
            kind = "extended" if found.is_extended else "standard"
            lines.append(f"ip access-list {kind} {name}")
            lines += [
                f" {access_lists.text(entry, is_extended=found.is_extended)}"
                for entry in found.entries
            ]
    return lines
