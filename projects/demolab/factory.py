"""Makes nodes and links as GNS3 would from its templates."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface

from projects.demolab.model import (
    HostConfig,
    InterfaceConfig,
    Link,
    LinkEnd,
    Network,
    Node,
    NodeType,
    Port,
    RouterConfig,
    StaticRoute,
)

ROUTER_PORTS = ((0, 0), (0, 1), (1, 0), (2, 0))
SWITCH_PORTS = 8


def clean_name(name: str) -> str:
    """GNS3 drops what a host name cannot hold."""
    return re.sub(r"[^A-Za-z0-9_.-]", "", name)[:63]


def free_name(network: Network, layout: str) -> str:
    """`PC{0}` → the first of PC1, PC2, … that is not taken."""
    taken = {node.name for node in network.nodes.values()}
    number = 1
    while layout.format(number) in taken:
        number += 1
    return layout.format(number)


def make_node(
    network: Network, node_type: NodeType, name: str, *, node_id: str = ""
) -> Node:
    """A new node in the network, switched off and without addresses."""
    node = Node(node_id or str(uuid.uuid4()), name, node_type, [])
    serial = _free_serial(network)
    match node_type:
        case NodeType.VPCS:
            mac = f"00:50:79:66:{0x68 + serial // 256:02x}:{serial % 256:02x}"
            node.ports = [Port("Ethernet0", "e0", 0, 0, mac)]
            node.host = HostConfig(name[:12])
        case NodeType.ROUTER:
            head = f"ca:01:{0x0A + serial // 256:02x}:{serial % 256:02x}:00"
            node.ports = [
                Port(
                    f"FastEthernet{slot}/{number}",
                    f"f{slot}/{number}",
                    slot,
                    number,
                    f"{head}:{index:02x}",
                )
                for index, (slot, number) in enumerate(ROUTER_PORTS)
            ]
            node.router = RouterConfig(
                name, {port.name: InterfaceConfig() for port in node.ports}
            )
        case NodeType.SWITCH:
            node.ports = [
                Port(f"Ethernet{number}", f"e{number}", 0, number, "")
                for number in range(SWITCH_PORTS)
            ]
            # A switch of GNS3 runs from the moment it exists.
            node.is_started = True
    node.save()
    network.nodes[node.node_id] = node
    return node


def _free_serial(network: Network) -> int:
    """A number no other node of this type has in its MAC addresses."""
    taken = {
        mac[12:14] + mac[15:17] if mac.startswith("00:50") else mac[6:8] + mac[9:11]
        for node in network.nodes.values()
        for mac in (port.mac for port in node.ports)
        if mac
    }
    serial = 0
    while {
        f"{0x68 + serial // 256:02x}{serial % 256:02x}",
        f"{0x0A + serial // 256:02x}{serial % 256:02x}",
    } & taken:
        serial += 1
    return serial


@dataclass
class Builder:
    """Writes a network down in a few lines."""

    namespace: str
    network: Network = field(default_factory=Network)

    def pc(self, name: str, address: str, gateway: str, x: int, y: int) -> Node:
        node = self._node(NodeType.VPCS, name, x, y)
        assert node.host is not None
        node.host.address = IPv4Interface(address)
        node.host.gateway = IPv4Address(gateway)
        return node

    def router(self, name: str, x: int, y: int) -> Node:
        return self._node(NodeType.ROUTER, name, x, y)

    def switch(self, name: str, x: int, y: int) -> Node:
        return self._node(NodeType.SWITCH, name, x, y)

    def spare(self, node_type: NodeType, name: str, x: int, y: int) -> Node:
        """A device as it comes from its template, connected to nothing."""
        return self._node(node_type, name, x, y)

    def interface(
        self, router: Node, port: str, address: IPv4Interface, description: str = ""
    ) -> None:
        assert router.router is not None
        router.router.interfaces[port] = InterfaceConfig(
            address, is_shutdown=False, description=description, has_proxy_arp=False
        )

    def route(self, router: Node, route: StaticRoute) -> None:
        assert router.router is not None
        router.router.routes.append(route)

    def link(self, a: Node, b: Node, port_a: str = "", port_b: str = "") -> Link:
        """Plug a cable in; without a name the first free port is used."""
        ends = (self._end(a, port_a), self._end(b, port_b))
        key = "/".join(f"{e.node_id}:{e.adapter}:{e.number}" for e in ends)
        link = Link(str(uuid.uuid5(uuid.NAMESPACE_OID, key)), ends)
        self.network.links[link.link_id] = link
        return link

    def finish(self) -> Network:
        """Switch everything on with its configuration saved."""
        for node in self.network.nodes.values():
            node.is_started = True
            node.save()
        return self.network

    def _node(self, node_type: NodeType, name: str, x: int, y: int) -> Node:
        node_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.namespace}/{name}"))
        node = make_node(self.network, node_type, name, node_id=node_id)
        node.x, node.y = x, y
        return node

    def _end(self, node: Node, name: str) -> LinkEnd:
        port = next(
            port
            for port in node.ports
            if (port.name == name if name else not self.network.link_at(node, port))
        )
        return LinkEnd(node.node_id, port.adapter, port.number)
