"""Labs that the tests build on a real GNS3 server."""

from projects.consoles import ConsoleTarget, target_for
from projects.gns3 import Gns3Client, Gns3LinkEnd, Gns3Node


async def create_pc(client: Gns3Client, project_id: str, name: str) -> Gns3Node:
    templates = await client.templates()
    template = next(each for each in templates if each.template_type == "vpcs")
    return await client.create_node(
        project_id, template_id=template.template_id, x=0, y=0, name=name
    )


def first_port(node: Gns3Node) -> Gns3LinkEnd:
    port = node.ports[0]
    return Gns3LinkEnd(node.node_id, port.adapter_number, port.port_number)


async def start_two_pcs(
    client: Gns3Client, project_id: str
) -> tuple[ConsoleTarget, ConsoleTarget]:
    """Two linked PCs, started; their consoles."""
    left = await create_pc(client, project_id, "Left")
    right = await create_pc(client, project_id, "Right")
    await client.create_link(project_id, first_port(left), first_port(right))
    for node in (left, right):
        await client.start_node(project_id, node.node_id)
    return console_of(left), console_of(right)


def console_of(node: Gns3Node) -> ConsoleTarget:
    return target_for(
        name=node.name,
        node_type=node.node_type,
        device_type=node.device_type,
        console_type=node.console_type,
        host=node.console_host,
        port=node.console,
    )
