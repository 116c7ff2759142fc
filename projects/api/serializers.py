"""Projects as the API shows them: GNS3's names, plus where they are and our role."""

from typing import Any

from projects.gns3.types import Gns3Topology
from projects.models import Project, Role
from projects.topology.view import (
    TopologyEnd,
    TopologyLink,
    TopologyNode,
    TopologyView,
)


def project_json(project: Project, role: Role | None) -> dict[str, Any]:
    return {
        "project_id": project.project_id,
        "name": project.name,
        "status": project.status,
        "server": {
            "name": project.server.name,
            "is_simulated": project.server.is_simulated,
        },
        "role": role,
    }


def topology_json(topology: Gns3Topology, *, is_simulated: bool) -> dict[str, Any]:
    """Devices and links with port names, for the page and other clients."""
    return {
        "project": {
            "project_id": topology.project.project_id,
            "name": topology.project.name,
            "status": topology.project.status,
        },
        "is_simulated": is_simulated,
        "nodes": [
            {
                "node_id": node.node_id,
                "name": node.name,
                "node_type": node.node_type,
                "status": node.status,
                "console_type": node.console_type,
                "x": node.x,
                "y": node.y,
                "ports": [port.name for port in node.ports],
            }
            for node in topology.nodes
        ],
        "links": [
            {
                "link_id": link.link_id,
                "ends": [
                    {"node_id": end.node_id, "port": topology.port_name(end)}
                    for end in link.ends
                ],
                "is_suspended": link.is_suspended,
            }
            for link in topology.links
        ],
    }


def topology_view(topology: Gns3Topology, *, is_simulated: bool) -> TopologyView:
    """The same for the one SVG renderer."""
    return TopologyView(
        project_name=topology.project.name,
        nodes=tuple(
            TopologyNode(
                node_id=node.node_id,
                name=node.name,
                node_type=node.node_type,
                status=node.status,
                x=node.x,
                y=node.y,
                device_type=node.device_type,
            )
            for node in topology.nodes
        ),
        links=tuple(
            TopologyLink(
                link_id=link.link_id,
                ends=tuple(
                    TopologyEnd(end.node_id, topology.port_name(end))
                    for end in link.ends
                ),
                is_suspended=link.is_suspended,
            )
            for link in topology.links
        ),
        is_simulated=is_simulated,
    )
