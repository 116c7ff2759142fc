"""What a GNS3 server tells, as frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

Json = Mapping[str, Any]

DEVICE_TYPE_TAG = "device_type:"


@dataclass(frozen=True)
class Gns3Version:
    version: str
    is_simulated: bool

    @classmethod
    def from_json(cls, data: Json) -> Self:
        return cls(str(data["version"]), data.get("simulated") is True)


@dataclass(frozen=True)
class Gns3User:
    user_id: str
    username: str
    is_superadmin: bool

    @classmethod
    def from_json(cls, data: Json) -> Self:
        is_superadmin = data.get("is_superadmin") is True
        return cls(str(data["user_id"]), str(data["username"]), is_superadmin)


@dataclass(frozen=True)
class Gns3Project:
    project_id: str
    name: str
    status: str

    @classmethod
    def from_json(cls, data: Json) -> Self:
        return cls(str(data["project_id"]), str(data["name"]), str(data["status"]))


@dataclass(frozen=True)
class Gns3Port:
    name: str
    short_name: str
    adapter_number: int
    port_number: int

    @classmethod
    def from_json(cls, data: Json) -> Self:
        name = str(data["name"])
        return cls(
            name=name,
            short_name=str(data.get("short_name") or name),
            adapter_number=int(data["adapter_number"]),
            port_number=int(data["port_number"]),
        )


@dataclass(frozen=True)
class Gns3Node:
    node_id: str
    name: str
    node_type: str
    status: str
    console: int | None
    console_host: str
    console_type: str
    x: int
    y: int
    ports: tuple[Gns3Port, ...]
    device_type: str

    @classmethod
    def from_json(cls, data: Json) -> Self:
        console = data.get("console")
        return cls(
            node_id=str(data["node_id"]),
            name=str(data["name"]),
            node_type=str(data["node_type"]),
            status=str(data["status"]),
            console=None if console is None else int(console),
            console_host=str(data.get("console_host") or ""),
            console_type=str(data.get("console_type") or "none"),
            x=int(data.get("x") or 0),
            y=int(data.get("y") or 0),
            ports=tuple(Gns3Port.from_json(port) for port in data.get("ports") or ()),
            device_type=_device_type(data),
        )


def _device_type(data: Json) -> str:
    """The field of GNS3 3.1, or the tag by which GNS3 Copilot labs name it."""
    if data.get("netmiko_device_type"):
        return str(data["netmiko_device_type"]).strip()
    for tag in data.get("tags") or ():
        if str(tag).startswith(DEVICE_TYPE_TAG):
            return str(tag).removeprefix(DEVICE_TYPE_TAG).strip()
    return ""


@dataclass(frozen=True)
class Gns3LinkEnd:
    node_id: str
    adapter_number: int
    port_number: int

    @classmethod
    def from_json(cls, data: Json) -> Self:
        adapter, port = int(data["adapter_number"]), int(data["port_number"])
        return cls(str(data["node_id"]), adapter, port)

    def to_json(self) -> dict[str, Any]:
        return {
            "node_id": self.node_id,
            "adapter_number": self.adapter_number,
            "port_number": self.port_number,
        }


@dataclass(frozen=True)
class Gns3Link:
    link_id: str
    ends: tuple[Gns3LinkEnd, ...]
    is_suspended: bool

    @classmethod
    def from_json(cls, data: Json) -> Self:
        ends = tuple(Gns3LinkEnd.from_json(end) for end in data["nodes"])
        return cls(str(data["link_id"]), ends, data.get("suspend") is True)


@dataclass(frozen=True)
class Gns3Template:
    template_id: str
    name: str
    template_type: str
    category: str

    @classmethod
    def from_json(cls, data: Json) -> Self:
        return cls(
            template_id=str(data["template_id"]),
            name=str(data["name"]),
            template_type=str(data["template_type"]),
            category=str(data.get("category") or ""),
        )


@dataclass(frozen=True)
class Gns3Topology:
    project: Gns3Project
    nodes: tuple[Gns3Node, ...]
    links: tuple[Gns3Link, ...]

    def port_name(self, end: Gns3LinkEnd) -> str:
        """As its node names it; the numbers where the node is unknown."""
        for node in self.nodes:
            if node.node_id != end.node_id:
                continue
            for port in node.ports:
                if (port.adapter_number, port.port_number) == (
                    end.adapter_number,
                    end.port_number,
                ):
                    return port.name
        return f"{end.adapter_number}/{end.port_number}"

    def free_ports(self, node_id: str) -> list[Gns3Port]:
        """Ports of a node that no link uses."""
        used = {
            (end.adapter_number, end.port_number)
            for link in self.links
            for end in link.ends
            if end.node_id == node_id
        }
        return [
            port
            for node in self.nodes
            if node.node_id == node_id
            for port in node.ports
            if (port.adapter_number, port.port_number) not in used
        ]
