"""Commands on device consoles, on several devices at once."""

import asyncio
from collections.abc import Sequence
from typing import Any

from chat.agent.tools.base import Effect, Tool
from chat.agent.tools.commands import (
    DeviceCommands,
    RunCommands,
    console_of,
    refuse,
)
from chat.agent.tools.device_preview import DEVICE_PREVIEW
from chat.agent.tools.kit import in_lab
from chat.agent.tools.lab import Lab, find_node
from copilot_site.lib.errors import UserFacingError
from projects.consoles import (
    DEVICE_TYPES,
    CommandResult,
    ConsoleError,
    classify,
    run_commands,
)
from projects.consoles import Effect as ConsoleEffect
from projects.gns3.types import Gns3Node

_OUTPUT_PER_COMMAND = 8_000
_SECONDS_PER_DEVICE = 90.0


async def _run_commands(arguments: RunCommands, lab: Lab) -> dict[str, Any]:
    nodes = await lab.client.nodes(lab.project_id)
    results = await asyncio.gather(
        *(_on_device(wanted, nodes, lab) for wanted in arguments.devices)
    )
    return {"devices": results}


async def _on_device(
    wanted: DeviceCommands, nodes: Sequence[Gns3Node], lab: Lab
) -> dict[str, Any]:
    """Its failure is its own: the other devices go on."""
    results: list[CommandResult] = []
    error = ""
    name = wanted.device
    try:
        node = find_node(nodes, wanted.device)
        name = node.name
        target = console_of(node)
        refuse(target.dialect, wanted.commands)
        results = await run_commands(
            target,
            wanted.commands,
            time_limit=_SECONDS_PER_DEVICE,
            output_limit=_OUTPUT_PER_COMMAND,
            lock=lab.console_lock,
        )
        error = next((result.error for result in results if result.error), "")
    except ConsoleError as failure:
        results, error = failure.results, str(failure)
    except UserFacingError as failure:
        error = str(failure)
    return {
        "device": name,
        "status": "failed" if error else "ok",
        **({"error": error} if error else {}),
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


def _effect(arguments: RunCommands) -> Effect:
    """A read only if every line is known to be one, in whichever dialect."""
    is_read = all(
        any(
            classify(dialect, command) == ConsoleEffect.READ
            for dialect in set(DEVICE_TYPES.values())
        )
        for device in arguments.devices
        for command in device.commands
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
    run=in_lab(_run_commands),
    needs="lab",
    effect_of=_effect,
    preview=DEVICE_PREVIEW,
)
