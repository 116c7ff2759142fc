"""Labs of hand-made console texts, and the loop that lets the model read them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from llmconfig.offline import OfflineChatModel

TOOLS = (
    "read_topology",
    "list_templates",
    "create_nodes",
    "create_links",
    "start_nodes",
    "stop_nodes",
    "run_commands",
)


def tool_schema(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    function = {"name": name, "description": name, "parameters": parameters}
    return {"type": "function", "function": function}


@dataclass
class Router:
    """`interfaces`: name → address with mask, empty for none; the rest by name."""

    interfaces: dict[str, str]
    routes: list[str] = field(default_factory=list)
    down: set[str] = field(default_factory=set)
    access: dict[str, str] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)

    def texts(self) -> dict[str, str]:
        return {
            "show ip interface brief": self._brief(),
            "show ip route": self._table(),
            "show running-config": self._config(),
            "show access-lists": "",
            "show ip arp": "Protocol  Address  Age (min)  Hardware Addr   Type",
        }

    def _brief(self) -> str:
        lines = ["Interface              IP-Address      OK? Method Status    Protocol"]
        for name, text in self.interfaces.items():
            state = "administratively down down" if name in self.down else "up    up"
            address = text.partition("/")[0] or "unassigned"
            lines.append(f"{name:<22} {address:<15} YES NVRAM  {state}")
        return "\n".join(lines)

    def _table(self) -> str:
        lines = ["Gateway of last resort is not set", ""]
        for name, text in self.interfaces.items():
            if text and name not in self.down:
                network = IPv4Interface(text).network
                lines.append(f"C       {network} is directly connected, {name}")
        return "\n".join(lines)

    def _config(self) -> str:
        lines = ["Building configuration...", "!", "hostname X", "!"]
        for name, text in self.interfaces.items():
            lines.append(f"interface {name}")
            if text:
                lines.append(
                    f" ip address {IPv4Interface(text).with_netmask}".replace("/", " ")
                )
            if name in self.access:
                lines.append(f" ip access-group {self.access[name]}")
            if name in self.down:
                lines.append(" shutdown")
            lines.append("!")
        return "\n".join([*lines, *self.routes, *self.lists, "end"])


@dataclass
class Lab:
    pcs: dict[str, tuple[str, str]]
    routers: dict[str, Router]
    links: list[tuple[str, str, str, str]]
    switches: tuple[str, ...] = ()
    stopped: set[str] = field(default_factory=set)
    suspended: set[tuple[str, str]] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    pings: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    broken_tools: dict[str, str] = field(default_factory=dict)

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        self.calls.append((name, arguments))
        if name in self.broken_tools:
            return json.dumps({"error": self.broken_tools[name]})
        return json.dumps(getattr(self, f"_{name}")(arguments), ensure_ascii=False)

    def _read_topology(self, arguments: dict[str, Any]) -> dict[str, Any]:
        nodes = [
            *((name, "vpcs", "vpcs") for name in self.pcs),
            *((name, "dynamips", "ios") for name in self.routers),
            *((name, "ethernet_switch", None) for name in self.switches),
        ]
        return {
            "project": {"name": "Lab", "status": "opened"},
            "lab": "real",
            "nodes": [
                {
                    "name": name,
                    "type": kind,
                    "status": "stopped" if name in self.stopped else "started",
                    "node_id": f"id-{name}",
                    "console": console,
                    "ports": ["e0"],
                }
                for name, kind, console in nodes
            ],
            "links": [
                {
                    "a": a,
                    "a_port": a_port,
                    "b": b,
                    "b_port": b_port,
                    "suspended": (a, b) in self.suspended,
                }
                for a, a_port, b, b_port in self.links
            ],
        }

    def _run_commands(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"devices": [self._device(entry) for entry in arguments["devices"]]}

    def _device(self, entry: dict[str, Any]) -> dict[str, Any]:
        name = entry["device"]
        if name in self.refused or name in self.stopped:
            error = self.refused.get(name, f"{name} is stopped.")
            return {"device": name, "status": "failed", "error": error, "commands": []}
        commands = [
            {"command": c, "output": self._output(name, c), "truncated": False}
            for c in entry["commands"]
        ]
        return {"device": name, "status": "ok", "commands": commands}

    def _output(self, name: str, command: str) -> str:
        if command.startswith("ping"):
            target = command.split()[1]
            return self.pings.get(command, f"{target} icmp_seq=1 timeout")
        if command.startswith("show ip route "):
            return "% Subnet not in table"
        if name in self.routers:
            return self.routers[name].texts().get(command, "")
        address, gateway = self.pcs[name]
        return {
            "show ip": (
                f"\nNAME        : {name}[1]\nIP/MASK     : {address}\n"
                f"GATEWAY     : {gateway}\nDNS         : \nMTU         : 1500\n"
            ),
            "show arp": "\narp table is empty\n",
        }.get(command, "")

    def _list_templates(self, arguments: dict[str, Any]) -> dict[str, Any]:
        templates = [("VPCS", "vpcs"), ("Ethernet switch", "ethernet_switch")]
        return {"templates": [{"name": n, "type": t} for n, t in templates]}

    def _create_nodes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        names = [f"N{i + 1}" for i, _ in enumerate(arguments["nodes"])]
        created = [{"name": name, "node_id": name} for name in names]
        return {"created": created, "failed": []}

    def _create_links(self, arguments: dict[str, Any]) -> dict[str, Any]:
        links = arguments["links"]
        created = [{"a": link["node_a"], "b": link["node_b"]} for link in links]
        return {"created": created, "failed": []}

    def _start_nodes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"started": arguments["nodes"], "failed": []}

    def _stop_nodes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"stopped": arguments["nodes"], "failed": []}


def two_router_lab() -> Lab:
    """ada and bob behind the routers near and far; a healthy lab, cyd beside bob."""
    return Lab(
        pcs={
            "ada": ("10.1.1.10/24", "10.1.1.1"),
            "bob": ("10.2.2.20/24", "10.2.2.1"),
            "cyd": ("10.2.2.30/24", "10.2.2.1"),
        },
        routers={
            "near": Router(
                {
                    "FastEthernet0/0": "10.1.1.1/24",
                    "FastEthernet0/1": "10.9.9.1/30",
                },
                ["ip route 10.2.2.0 255.255.255.0 10.9.9.2"],
            ),
            "far": Router(
                {
                    "FastEthernet0/0": "10.2.2.1/24",
                    "FastEthernet0/1": "10.9.9.2/30",
                },
                ["ip route 10.1.1.0 255.255.255.0 10.9.9.1"],
            ),
        },
        links=[
            ("ada", "Ethernet0", "near", "FastEthernet0/0"),
            ("near", "FastEthernet0/1", "far", "FastEthernet0/1"),
            ("far", "FastEthernet0/0", "hub", "Ethernet0"),
            ("bob", "Ethernet0", "hub", "Ethernet1"),
            ("cyd", "Ethernet0", "hub", "Ethernet2"),
        ],
        switches=("hub",),
    )


def reply_from(address: str) -> str:
    return f"84 bytes from {IPv4Address(address)} icmp_seq=1 ttl=62 time=1.0 ms"


async def ask(
    lab: Lab,
    question: str,
    history: Sequence[BaseMessage] = (),
    tools: Iterable[str] = TOOLS,
    edit: Callable[[dict[str, Any]], None] = lambda arguments: None,
) -> tuple[str, list[BaseMessage]]:
    """The answer, and all messages up to it; `edit` does as a person may."""
    model = OfflineChatModel(pace=0.0).bind_tools([tool_schema(name) for name in tools])
    messages = [*(history or [SystemMessage("prompt")]), HumanMessage(question)]
    for _ in range(8):
        answer = await model.ainvoke(messages)
        assert isinstance(answer, AIMessage)
        messages.append(answer)
        if not answer.tool_calls:
            return answer.text, messages
        for call in answer.tool_calls:
            edit(call["args"])
            output = lab.call(call["name"], call["args"])
            messages.append(ToolMessage(output, tool_call_id=call["id"]))
    raise AssertionError("The model does not come to an end.")
