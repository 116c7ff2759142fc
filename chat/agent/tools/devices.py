"""Commands on device consoles, on several devices at once."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from chat.agent.tools.base import Effect, Tool
from chat.agent.tools.commands import (
    DeviceCommands,
    RunCommands,
    console_of,
    refuse,
)
from chat.agent.tools.device_preview import DEVICE_PREVIEW
from chat.agent.tools.kit import Evidence, Passage, in_lab
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


async def _run_commands(arguments: RunCommands, lab: Lab) -> Evidence:
    nodes = await lab.client.nodes(lab.project_id)
    told = await asyncio.gather(
        *(_on_device(wanted, nodes, lab) for wanted in arguments.devices)
    )
    return Evidence(
        {"devices": [device.value for device in told]},
        [passage for device in told for passage in device.passages],
        changed={
            device.value["device"]: device.changed_at
            for device in told
            if device.changed_at
        },
    )


@dataclass
class _Told:
    """What one device said, and when it was last changed by it."""

    value: dict[str, Any]
    passages: list[Passage] = field(default_factory=list)
    changed_at: str = ""


async def _on_device(
    wanted: DeviceCommands, nodes: Sequence[Gns3Node], lab: Lab
) -> _Told:
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
    told = _Told(
        {
            "device": name,
            "status": "failed" if error else "ok",
            **({"error": error} if error else {}),
            "commands": [],
        }
    )
    # Each command ended so long ago as those after it took.
    ended = datetime.now(UTC) - timedelta(seconds=sum(r.elapsed for r in results))
    for result in results:
        ended += timedelta(seconds=result.elapsed)
        _add(told, result, ended.isoformat())
    return told


def _add(told: _Told, result: CommandResult, ended: str) -> None:
    shown: dict[str, Any] = {
        "command": result.command,
        "output": result.output,
        "truncated": result.is_truncated,
        **({"error": result.error} if result.error else {}),
    }
    if result.output.strip() and not result.error:
        passage = _cited(told.value["device"], result, ended)
        # The model reads its number here.
        shown["cite"] = passage.id
        told.passages.append(passage)
    told.value["commands"].append(shown)
    if not _is_read(result.command):
        told.changed_at = ended


def _cited(device: str, result: CommandResult, ended: str) -> Passage:
    said = "\n".join([device, result.command, result.output, ended])
    return Passage(
        id=f"device:{hashlib.sha256(said.encode()).hexdigest()[:24]}",
        kind="device",
        title=f"{device} · {result.command}",
        text=result.output,
        location=device,
        time=ended,
    )


def _effect(arguments: RunCommands) -> Effect:
    """A read only if every line is known to be one."""
    commands = (line for device in arguments.devices for line in device.commands)
    return Effect.READ if all(map(_is_read, commands)) else Effect.CHANGE


def _is_read(command: str) -> bool:
    """In whichever dialect."""
    dialects = set(DEVICE_TYPES.values())
    return any(classify(one, command) == ConsoleEffect.READ for one in dialects)


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
