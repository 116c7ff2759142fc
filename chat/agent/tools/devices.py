"""Commands on device consoles, on several devices at once."""

import asyncio
from typing import Any

from chat.agent.tools.base import Effect, Tool, ToolArguments, ToolFailed
from chat.agent.tools.lab import Lab, find_node
from copilot_site.lib.errors import UserFacingError
from projects.consoles import policy
from projects.consoles.console import ConsoleTarget, run_commands
from projects.consoles.dialect import dialect_for
from projects.gns3.types import Gns3Node
from pydantic import Field

_OUTPUT_PER_COMMAND = 8_000
_SECONDS_PER_DEVICE = 90.0


class DeviceCommands(ToolArguments):
    device: str = Field(description="Device name or node id.")
    commands: list[str] = Field(min_length=1, max_length=30)


class RunCommands(ToolArguments):
    devices: list[DeviceCommands] = Field(min_length=1, max_length=50)


async def _run_commands(arguments: RunCommands, lab: Lab) -> dict[str, Any]:
    nodes = await lab.client.nodes(lab.project_id)
    results = await asyncio.gather(
        *(_on_device(wanted, nodes, lab) for wanted in arguments.devices)
    )
    return {"devices": results}


async def _on_device(
    wanted: DeviceCommands, nodes: list[Gns3Node], lab: Lab
) -> dict[str, Any]:
    """Its failure is its own: the other devices go on."""
    try:
        node = find_node(nodes, wanted.device)
        dialect = _dialect(node)
        lines = [
            line for command in wanted.commands for line in policy.split_lines(command)
        ]
        _refuse(dialect, lines)
        results = await run_commands(
            ConsoleTarget(node.name, node.console_host, node.console or 0, dialect),
            lines,
            time_limit=_SECONDS_PER_DEVICE,
            output_limit=_OUTPUT_PER_COMMAND,
            lock=lab.console_lock,
        )
    except UserFacingError as error:
        return {
            "device": wanted.device,
            "status": "failed",
            "error": str(error),
            "commands": [],
        }
    failed = [result.error for result in results if result.error]
    answer: dict[str, Any] = {
        "device": node.name,
        "status": "failed" if failed else "ok",
        "commands": [
            {
                "command": result.command,
                "output": result.output,
                "truncated": result.is_truncated,
                **({"error": result.error} if result.error else {}),
            }
            for result in results
        ],
    }
    if failed:
        answer["error"] = failed[0]
    return answer


def _dialect(node: Gns3Node) -> str:
    dialect = dialect_for(node.node_type, node.device_type)
    if dialect is None:
        raise ToolFailed(
            f"{node.name} has no console that the copilot can read "
            f"(type {node.device_type or node.node_type})."
        )
    if node.status != "started":
        raise ToolFailed(
            f"{node.name} is {node.status}: its console does not answer. Start it first."
        )
    if not node.console:
        raise ToolFailed(f"{node.name} has no console port.")
    return dialect


def _refuse(dialect: str, lines: list[str]) -> None:
    refused = [
        line
        for line in lines
        if policy.classify(dialect, line) == policy.Effect.REFUSED
    ]
    if refused:
        raise ToolFailed(
            f"Refused, nothing was run: “{refused[0]}” could destroy or leave the lab."
        )


def _effect(arguments: RunCommands) -> Effect:
    """A read only if every line is known to be one, in whichever dialect."""
    lines = [
        line
        for device in arguments.devices
        for command in device.commands
        for line in policy.split_lines(command)
    ]
    is_read = all(
        any(
            policy.classify(dialect, line) == policy.Effect.READ
            for dialect in policy.DIALECTS
        )
        for line in lines
    )
    return Effect.READ if is_read else Effect.CHANGE


RUN_COMMANDS = Tool(
    name="run_commands",
    description=(
        "Run commands on the consoles of one or more devices at once and return "
        "their output word for word. VPCS hosts understand e.g. `show ip`, "
        "`ping 10.0.0.1`, `ip 10.0.0.2/24 10.0.0.1`; routers speak IOS, e.g. "
        "`show ip interface brief`, `show ip route`, `show running-config`."
    ),
    arguments=RunCommands,
    run=_run_commands,
    effect_of=_effect,
)
