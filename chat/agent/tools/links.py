"""Connecting devices."""

from pydantic import Field

from chat.agent.tools.base import Effect, Tool, ToolArguments, ToolFailed
from chat.agent.tools.kit import Evidence, in_lab, now
from chat.agent.tools.lab import Lab, find_node
from chat.agent.tools.topology_preview import of_topology
from copilot_site.lib.errors import UserFacingError
from projects.gns3.types import Gns3LinkEnd, Gns3Node, Gns3Port, Gns3Topology


class NewLink(ToolArguments):
    node_a: str
    port_a: str | None = Field(None, description="Port name; a free one if left out.")
    node_b: str
    port_b: str | None = Field(None, description="Port name; a free one if left out.")


class CreateLinks(ToolArguments):
    links: list[NewLink] = Field(min_length=1, max_length=50)


async def _create_links(arguments: CreateLinks, lab: Lab) -> Evidence:
    created, failed = [], []
    for wanted in arguments.links:
        # Read again each time: a failed link may or may not have taken its ports.
        topology = await lab.topology()
        try:
            node_a = find_node(topology.nodes, wanted.node_a)
            node_b = find_node(topology.nodes, wanted.node_b)
            if node_a.node_id == node_b.node_id:
                raise ToolFailed("A device cannot be linked to itself.")
            port_a = _find_port(topology, node_a, wanted.port_a)
            port_b = _find_port(topology, node_b, wanted.port_b)
            link = await lab.client.create_link(
                lab.project_id, _end(node_a, port_a), _end(node_b, port_b)
            )
        except UserFacingError as error:
            ends = f"{wanted.node_a} – {wanted.node_b}"
            failed.append({"link": ends, "error": str(error)})
        else:
            created.append(
                {
                    "link_id": link.link_id,
                    "a": node_a.name,
                    "a_port": port_a.name,
                    "b": node_b.name,
                    "b_port": port_b.name,
                }
            )
    names = [link[side] for link in created for side in ("a", "b")]
    return Evidence({"created": created, "failed": failed}, changed=now(names))


def _end(node: Gns3Node, port: Gns3Port) -> Gns3LinkEnd:
    return Gns3LinkEnd(node.node_id, port.adapter_number, port.port_number)


def _find_port(topology: Gns3Topology, node: Gns3Node, name: str | None) -> Gns3Port:
    free = topology.free_ports(node.node_id)
    if name is None:
        if not free:
            raise ToolFailed(f"{node.name} has no free port.")
        return free[0]
    for port in node.ports:
        if name.strip().casefold() in (
            port.name.casefold(),
            port.short_name.casefold(),
        ):
            if port not in free:
                raise ToolFailed(f"Port {port.name} of {node.name} is in use.")
            return port
    names = ", ".join(port.name for port in free) or "none"
    raise ToolFailed(f"{node.name} has no port “{name}”. Free ports: {names}.")


def _words(arguments: CreateLinks) -> str:
    ends = [f"{link.node_a} – {link.node_b}" for link in arguments.links]
    return f"Connect {', '.join(ends)}"


CREATE_LINKS = Tool(
    name="create_links",
    description="Connect pairs of devices.",
    arguments=CreateLinks,
    run=in_lab(_create_links),
    needs="lab",
    effect_of=lambda arguments: Effect.CHANGE,
    preview=of_topology(_words),
)
