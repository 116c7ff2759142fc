"""Reading the lab: devices, links, templates."""

from typing import Any

from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.kit import in_lab
from chat.agent.tools.lab import Lab
from projects.consoles import dialect_for
from projects.gns3.types import Gns3LinkEnd, Gns3Node, Gns3Topology


class NoArguments(ToolArguments):
    pass


async def _read_topology(arguments: NoArguments, lab: Lab) -> dict[str, Any]:
    return describe(await lab.topology(), is_simulated=lab.is_simulated)


def describe(topology: Gns3Topology, *, is_simulated: bool) -> dict[str, Any]:
    """The topology as tools and prompts show it to a model."""
    nodes = {node.node_id: node for node in topology.nodes}
    return {
        "project": {
            "name": topology.project.name,
            "status": topology.project.status,
        },
        "lab": "simulated" if is_simulated else "real",
        "nodes": [
            {
                "name": node.name,
                "type": node.node_type,
                "status": node.status,
                "node_id": node.node_id,
                "console": dialect_for(node.node_type, node.device_type),
                "ports": [port.name for port in node.ports],
            }
            for node in topology.nodes
        ],
        "links": [
            {
                "a": _name(nodes, link.ends[0]),
                "a_port": topology.port_name(link.ends[0]),
                "b": _name(nodes, link.ends[1]),
                "b_port": topology.port_name(link.ends[1]),
                "suspended": link.is_suspended,
            }
            for link in topology.links
            if len(link.ends) == 2
        ],
    }


def _name(nodes: dict[str, Gns3Node], end: Gns3LinkEnd) -> str:
    node = nodes.get(end.node_id)
    return node.name if node else end.node_id


async def _list_templates(arguments: NoArguments, lab: Lab) -> dict[str, Any]:
    templates = await lab.client.templates()
    return {
        "templates": [
            {"name": template.name, "type": template.template_type}
            for template in templates
        ]
    }


READ_TOPOLOGY = Tool(
    name="read_topology",
    description=(
        "Read the lab's topology: devices with type, status and ports, and links. "
        "Device names in other tools are the names given here."
    ),
    arguments=NoArguments,
    run=in_lab(_read_topology),
    needs="lab",
)
LIST_TEMPLATES = Tool(
    name="list_templates",
    description="List the templates from which devices can be created.",
    arguments=NoArguments,
    run=in_lab(_list_templates),
    needs="lab",
)
