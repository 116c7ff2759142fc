"""The JSON of GNS3's v3 API for the things of the simulated lab."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from projects.demolab.model import Link, LinkEnd, Network, Node, NodeType, Port
from projects.demolab.state import Project

Json = dict[str, Any]
CONSOLE_TYPES = {NodeType.SWITCH: "none"}


@dataclass(frozen=True)
class Template:
    template_id: str
    name: str
    node_type: NodeType
    category: str
    name_format: str
    symbol: str


# The ids of the first two are those of every GNS3 server.
TEMPLATES = (
    Template(
        "52136454-1f50-590a-94e4-816bd02d1062",
        "VPCS",
        NodeType.VPCS,
        "guest",
        "PC{0}",
        ":/symbols/vpcs_guest.svg",
    ),
    Template(
        "92a43283-9c7e-5a68-9695-1f05a2e8dd05",
        "Ethernet switch",
        NodeType.SWITCH,
        "switch",
        "Switch{0}",
        ":/symbols/ethernet_switch.svg",
    ),
    Template(
        str(uuid.uuid5(uuid.NAMESPACE_OID, "simulated-router")),
        "Simulated router",
        NodeType.ROUTER,
        "router",
        "R{0}",
        ":/symbols/router.svg",
    ),
)


def template_of(node_type: NodeType) -> Template:
    return next(t for t in TEMPLATES if t.node_type is node_type)


def template_json(template: Template) -> Json:
    return {
        "template_id": template.template_id,
        "name": template.name,
        "version": None,
        "category": template.category,
        "default_name_format": template.name_format,
        "symbol": template.symbol,
        "template_type": template.node_type.value,
        "compute_id": None,
        "usage": "Part of the simulated lab",
        "builtin": True,
    }


def project_json(project: Project) -> Json:
    return {
        "name": project.name,
        "project_id": project.project_id,
        "path": f"/simulated/{project.project_id}",
        "filename": f"{project.name}.gns3",
        "status": "opened" if project.is_opened else "closed",
        "auto_close": False,
        "auto_open": False,
        "auto_start": False,
        "scene_height": 1000,
        "scene_width": 2000,
        "zoom": 100,
        "show_layers": False,
        "snap_to_grid": False,
        "show_grid": False,
        "grid_size": 75,
        "drawing_grid_size": 25,
        "show_interface_labels": True,
        "supplier": None,
        "variables": None,
    }


def node_json(project: Project, node: Node, host: str) -> Json:
    template = template_of(node.node_type)
    return {
        "compute_id": "local",
        "project_id": project.project_id,
        "node_id": node.node_id,
        "template_id": node.template_id,
        "name": node.name,
        "node_type": node.node_type.value,
        "status": "started" if node.is_started else "stopped",
        "console": node.console,
        "console_host": host,
        "console_type": CONSOLE_TYPES.get(node.node_type, "telnet"),
        "console_auto_start": False,
        "aux": None,
        "aux_type": "none",
        "properties": {"simulated": True},
        "label": {"text": node.name, "x": 0, "y": -25, "rotation": 0, "style": None},
        "symbol": template.symbol,
        "x": node.x,
        "y": node.y,
        "z": 1,
        "width": 65,
        "height": 65,
        "locked": False,
        "first_port_name": None,
        "port_name_format": "Ethernet{0}",
        "port_segment_size": 0,
        "custom_adapters": [],
        "node_directory": None,
        "command_line": None,
        "ports": [port_json(port) for port in node.ports],
    }


def port_json(port: Port) -> Json:
    return {
        "name": port.name,
        "short_name": port.short_name,
        "adapter_number": port.adapter,
        "port_number": port.number,
        "adapter_type": None,
        "mac_address": port.mac or None,
        "link_type": "ethernet",
        "data_link_types": {"Ethernet": "DLT_EN10MB"},
    }


def link_json(project: Project, link: Link) -> Json:
    return {
        "link_id": link.link_id,
        "project_id": project.project_id,
        "link_type": "ethernet",
        "nodes": [
            {
                "node_id": end.node_id,
                "adapter_number": end.adapter,
                "port_number": end.number,
                "label": {"text": _port_name(project.network, end), "x": 0, "y": 0},
            }
            for end in link.ends
        ],
        "suspend": link.is_suspended,
        "link_style": {},
        "filters": {},
        "capturing": False,
        "capture_file_name": None,
        "capture_file_path": None,
        "capture_compute_id": None,
    }


def _port_name(network: Network, end: LinkEnd) -> str:
    return next(
        port.short_name
        for port in network.nodes[end.node_id].ports
        if (port.adapter, port.number) == (end.adapter, end.number)
    )
