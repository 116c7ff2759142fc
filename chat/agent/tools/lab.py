"""The lab a run works on: its project on its server, and its devices by name."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from copilot_site.lib.errors import UserFacingError
from projects.gns3.client import Gns3Client
from projects.gns3.types import Gns3Node, Gns3Topology


class DeviceUnknown(UserFacingError):
    code = "device_unknown"


class DeviceAmbiguous(UserFacingError):
    code = "device_ambiguous"


@dataclass
class Lab:
    """Carries the server's credentials: kept in a ContextVar while a run lasts."""

    client: Gns3Client
    project_id: str
    is_simulated: bool
    console_lock: Callable[[str], AbstractAsyncContextManager[None]]

    async def topology(self) -> Gns3Topology:
        """As the server has it now; never from memory."""
        return await self.client.topology(self.project_id)


def find_node(nodes: Sequence[Gns3Node], name: str) -> Gns3Node:
    """By id, by exact name, then by name in any case; never a guess."""
    for wanted in (
        [node for node in nodes if node.node_id == name],
        [node for node in nodes if node.name == name],
        [node for node in nodes if node.name.casefold() == name.strip().casefold()],
    ):
        if len(wanted) == 1:
            return wanted[0]
        if wanted:
            ids = ", ".join(node.node_id for node in wanted)
            raise DeviceAmbiguous(
                f"{len(wanted)} devices are named “{name}”. Use a node id: {ids}."
            )
    known = ", ".join(node.name for node in nodes) or "none"
    raise DeviceUnknown(f"There is no device “{name}” in this lab. Devices: {known}.")
