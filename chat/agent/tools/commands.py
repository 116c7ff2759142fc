"""What `run_commands` takes, and which console a name stands for."""

from collections.abc import Sequence

from pydantic import Field

from chat.agent.tools.base import ToolArguments, ToolFailed
from projects.consoles import ConsoleTarget, classify, target_for
from projects.consoles import Effect as ConsoleEffect
from projects.gns3.types import Gns3Node


class DeviceCommands(ToolArguments):
    device: str = Field(description="Device name or node id.")
    commands: list[str] = Field(min_length=1, max_length=30)


class RunCommands(ToolArguments):
    devices: list[DeviceCommands] = Field(min_length=1, max_length=50)


def console_of(node: Gns3Node) -> ConsoleTarget:
    """Raises ToolFailed for a device that is off, ConsoleUnsupported without one."""
    if node.status != "started":
        raise ToolFailed(
            f"{node.name} is {node.status}: its console does not answer. "
            "Start it first."
        )
    return target_for(
        name=node.name,
        node_type=node.node_type,
        device_type=node.device_type,
        console_type=node.console_type,
        host=node.console_host,
        port=node.console,
    )


def refuse(dialect: str, commands: Sequence[str]) -> None:
    """Raises ToolFailed where a line could do what no approval allows."""
    for command in commands:
        if classify(dialect, command) == ConsoleEffect.REFUSED:
            raise ToolFailed(
                f"Refused, nothing was run: “{command}” could destroy or leave the lab."
            )
