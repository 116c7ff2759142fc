"""The `show` commands of a simulated router."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Address

from projects.demolab import access_lists, ios_routes, ios_running, routing
from projects.demolab.forwarding import Forwarder
from projects.demolab.ios_grammar import interface_name
from projects.demolab.model import InterfaceConfig, Node, NodeType, RouterConfig


@dataclass
class Show:
    """Texts about one router as it is now."""

    node: Node
    forwarder: Forwarder
    started_at: float = field(default_factory=time.monotonic)

    @property
    def config(self) -> RouterConfig:
        assert self.node.router is not None
        return self.node.router

    def ip_interface_brief(self) -> str:
        lines = [
            "Interface                  IP-Address      OK? Method Status"
            "                Protocol"
        ]
        for name, interface in self.config.interfaces.items():
            address = str(interface.address.ip) if interface.address else "unassigned"
            method = "NVRAM " if interface.address else "unset "
            status, protocol = self._state(interface)
            lines.append(
                f"{name:<26} {address:<15} YES {method} {status:<21} {protocol}"
            )
        return "\n".join(lines) + "\n"

    def interfaces(self, text: str = "") -> str:
        return "".join(self._interface(name) for name in self._chosen(text))

    def ip_interface(self, text: str = "") -> str:
        lines: list[str] = []
        for name in self._chosen(text):
            interface = self.config.interfaces[name]
            lines.append(f"{name} is {self._long_state(interface)}")
            if interface.address is None:
                lines.append("  Internet protocol processing disabled")
                continue
            proxy = "enabled" if interface.has_proxy_arp else "disabled"
            lines += [
                f"  Internet address is {interface.address}",
                "  Broadcast address is 255.255.255.255",
                "  MTU is 1500 bytes",
                f"  Outgoing access list is {interface.access_out or 'not set'}",
                f"  Inbound  access list is {interface.access_in or 'not set'}",
                f"  Proxy ARP is {proxy}",
            ]
        return "\n".join(lines) + "\n"

    def description(self) -> str:
        lines = ["Interface                      Status         Protocol Description"]
        for name, interface in self.config.interfaces.items():
            short = f"{name[:2]}{name.lstrip('abcdefghijklmnopqrstuvwxyzEFGLPS')}"
            status = "admin down" if interface.is_shutdown else "up"
            protocol = "down" if interface.is_shutdown else "up"
            line = f"{short:<30} {status:<14} {protocol:<8} {interface.description}"
            lines.append(line.rstrip())
        return "\n".join(lines) + "\n"

    def ip_route(self, text: str = "") -> str:
        routes = routing.table(self.node)
        if text:
            return ios_routes.detail(routes, IPv4Address(text))
        return ios_routes.table(routes)

    def ip_route_kind(self, codes: str) -> str:
        routes = routing.table(self.node)
        return ios_routes.table([route for route in routes if route.code in codes])

    def running_config(self) -> str:
        body = ios_running.configuration(self.config)
        return (
            "Building configuration...\n\n"
            f"Current configuration : {len(body)} bytes\n{body}\n"
        )

    def running_interface(self, text: str) -> str:
        name = interface_name(text) or ""
        if name not in self.config.interfaces:
            return "% Invalid interface\n"
        lines = ios_running.interface_lines(name, self.config.interfaces[name])
        body = "!\n" + "\n".join(lines) + "\nend\n"
        return (
            "Building configuration...\n\n"
            f"Current configuration : {len(body)} bytes\n{body}\n"
        )

    def startup_config(self) -> str:
        if self.node.saved_router is None:
            return "startup-config is not present\n"
        body = ios_running.configuration(self.node.saved_router)
        return f"Using {len(body)} out of 155640 bytes\n{body}\n"

    def arp(self) -> str:
        lines = [
            "Protocol  Address          Age (min)  Hardware Addr   Type   Interface"
        ]
        for name, own in self.node.addresses():
            if not name.startswith("Loopback"):
                lines.append(_arp_line(own.ip, "-", self.node.mac(name), name))
        known = self.forwarder.arp.get(self.node.node_id, {})
        for address, entry in sorted(known.items()):
            if self.node.owns(address) or not self.node.is_up(entry.interface):
                continue
            age = int((time.monotonic() - entry.learned_at) // 60)
            if entry.mac is None:
                lines.append(_arp_line(address, "0", None, ""))
            else:
                lines.append(_arp_line(address, str(age), entry.mac, entry.interface))
        return "\n".join(lines) + "\n"

    def access_lists(self, name: str = "") -> str:
        lines = []
        for known, found in self.config.access_lists.items():
            if name and known != name:
                continue
            kind = "Extended" if found.is_extended else "Standard"
            lines.append(f"{kind} IP access list {known}")
            lines += [
                access_lists.show_line(entry, is_extended=found.is_extended)
                for entry in found.entries
            ]
        return "".join(f"{line}\n" for line in lines)

    def ip_protocols(self) -> str:
        return "*** IP Routing is NSF aware ***\n\n"

    def version(self) -> str:
        minutes = int((time.monotonic() - self.started_at) // 60)
        count = sum(not name.startswith("Loopback") for name in self.config.interfaces)
        unit = "minute" if minutes == 1 else "minutes"
        return (
            "SIMULATED ROUTER (not Cisco IOS), part of the simulated lab\n"
            "Software with an IOS-like command line, Version 15.2 (simulated)\n\n"
            f"{self.config.hostname} uptime is {minutes} {unit}\n"
            "System returned to ROM by power-on\n\n"
            f"{count} FastEthernet interfaces\n"
            "Configuration register is 0x2102\n\n"
        )

    def cdp_neighbors(self) -> str:
        lines = [
            "Capability Codes: R - Router, T - Trans Bridge, B - Source Route Bridge",
            "                  S - Switch, H - Host, I - IGMP, r - Repeater\n",
            f"{'Device ID':<17}{'Local Intrfce':<18}{'Holdtme':<11}"
            f"{'Capability':<12}{'Platform':<10}Port ID",
        ]
        for name in self.config.interfaces:
            for other, port in self.forwarder.network.segment(self.node, name):
                if other.node_type is NodeType.ROUTER and other.router is not None:
                    lines.append(
                        f"{other.router.hostname:<16} {_short(name):<17} "
                        f"{'150':<10} {'R':<11} {'Simulated':<9} {_short(port)}"
                    )
        return "\n".join(lines) + "\n"

    def logging(self) -> str:
        lines = [
            "Syslog logging: enabled (0 messages dropped, 0 messages rate-limited)",
            "    Console logging: level debugging, 0 messages logged",
            "    Buffer logging:  level debugging, 0 messages logged\n",
            "Log Buffer (8192 bytes):\n",
        ]
        stamp = _stamp()
        for name, interface in self.config.interfaces.items():
            if interface.is_shutdown and interface.address is not None:
                lines.append(
                    f"*{stamp}: %LINK-5-CHANGED: Interface {name}, "
                    "changed state to administratively down"
                )
        for name, own in self.node.addresses():
            owner = self.forwarder.owner_mac(self.node, name, own.ip)
            if owner is not None:
                lines.append(
                    f"*{stamp}: %IP-4-DUPADDR: Duplicate address {own.ip} on {name}, "
                    f"sourced by {dotted(owner)}"
                )
        return "\n".join(lines) + "\n"

    def clock(self) -> str:
        return f"*{_stamp('%H:%M:%S')}.000 UTC {_stamp('%a %b %d %Y')}\n"

    def _chosen(self, text: str) -> list[str]:
        if not text:
            return list(self.config.interfaces)
        name = interface_name(text) or ""
        return [name] if name in self.config.interfaces else []

    @staticmethod
    def _state(interface: InterfaceConfig) -> tuple[str, str]:
        if interface.is_shutdown:
            return "administratively down", "down"
        return "up", "up"

    def _long_state(self, interface: InterfaceConfig) -> str:
        status, protocol = self._state(interface)
        return f"{status}, line protocol is {protocol}"

    def _interface(self, name: str) -> str:
        interface = self.config.interfaces[name]
        lines = [f"{name} is {self._long_state(interface)}"]
        if name.startswith("Loopback"):
            lines.append("  Hardware is Loopback")
        else:
            mac = dotted(self.node.mac(name))
            lines.append(f"  Hardware is Fast Ethernet, address is {mac} (bia {mac})")
        if interface.description:
            lines.append(f"  Description: {interface.description}")
        if interface.address is not None:
            lines.append(f"  Internet address is {interface.address}")
        lines += [
            "  MTU 1500 bytes, BW 100000 Kbit/sec, DLY 100 usec,",
            "     reliability 255/255, txload 1/255, rxload 1/255",
            "  Encapsulation ARPA, loopback not set",
            "  Keepalive set (10 sec)",
            "  ARP type: ARPA, ARP Timeout 04:00:00",
            "     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored",
            "     0 output errors, 0 collisions, 0 interface resets",
        ]
        return "\n".join(lines) + "\n"


def dotted(mac: str) -> str:
    digits = mac.replace(":", "")
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def _arp_line(address: IPv4Address, age: str, mac: str | None, interface: str) -> str:
    hardware = dotted(mac) if mac else "Incomplete"
    line = f"Internet  {address!s:<15}  {age:>9}   {hardware:<15} ARPA   {interface}"
    return line.rstrip()


def _short(name: str) -> str:
    return f"{name[:3]} {name.lstrip('abcdefghijklmnopqrstuvwxyzEFGLPS')}"


def _stamp(layout: str = "%b %d %H:%M:%S.000") -> str:
    return datetime.now(UTC).strftime(layout)
