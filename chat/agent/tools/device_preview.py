"""The lines a call would type, device by device, and the configuration before."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from chat.agent.tools.base import ToolFailed
from chat.agent.tools.commands import (
    DeviceCommands,
    RunCommands,
    console_of,
    refuse,
)
from chat.agent.tools.kit import Kit
from chat.agent.tools.lab import Lab, find_node
from chat.agent.tools.preview import Preview, Shown, digest
from copilot_site.lib.errors import UserFacingError
from projects.consoles import ConsoleTarget, classify, run_commands
from projects.consoles.redaction import redact
from projects.gns3.types import Gns3Node

_SECONDS = 10.0
_READABLE_LENGTH = 400_000
_SHOWN_LENGTH = 6_000
_READING = {"vpcs": "show ip", "ios": "show running-config"}
# Lines that say when it was read, or how GNS3 has wired it: no configuration.
_VOLATILE = re.compile(
    r"!|Building configuration|Current configuration|ntp clock-period"
    r"|LPORT\s*:|RHOST:PORT\s*:",
    re.I,
)
_UNREAD = "The configuration could not be read, so a change of it goes unnoticed: {}"


async def _look(arguments: RunCommands, kit: Kit) -> Shown:
    assert kit.lab is not None
    nodes = await kit.lab.client.nodes(kit.lab.project_id)
    parts = [_part(wanted, nodes) for wanted in arguments.devices]
    targets = {target.name: target for _, target in parts if target is not None}
    texts = dict(
        zip(
            targets,
            await asyncio.gather(*(_read(each, kit.lab) for each in targets.values())),
            strict=True,
        )
    )
    state, notes = {}, []
    for name, text in texts.items():
        failed = isinstance(text, UserFacingError)
        state[name] = "" if isinstance(text, UserFacingError) else _digest(text)
        if failed:
            notes.append(_UNREAD.format(text))
    for part, target in parts:
        text = texts.get(target.name, "") if target is not None else ""
        if isinstance(text, str) and text:
            part["before"] = redact(text)[:_SHOWN_LENGTH]
    shown = [part for part, _ in parts]
    refusal = "" if targets else " ".join(part["note"] for part in shown)
    return Shown(_words(shown), shown, notes, state, refusal)


def _part(
    wanted: DeviceCommands, nodes: Sequence[Gns3Node]
) -> tuple[dict[str, Any], ConsoleTarget | None]:
    """Without a target where nothing would be typed; the note says why."""
    part: dict[str, Any] = {"device": wanted.device, "asked": wanted.device}
    part |= {"dialect": "", "commands": [], "note": ""}
    try:
        node = find_node(nodes, wanted.device)
        part["device"] = node.name
        target = console_of(node)
        part["dialect"] = target.dialect
        part["commands"] = _lines(target.dialect, wanted.commands)
        refuse(target.dialect, wanted.commands)
    except UserFacingError as error:
        part["commands"] = part["commands"] or _lines("", wanted.commands)
        part["note"] = str(error)
        return part, None
    return part, target


def _lines(dialect: str, commands: Sequence[str]) -> list[dict[str, str]]:
    return [{"command": line, "effect": classify(dialect, line)} for line in commands]


async def _read(target: ConsoleTarget, lab: Lab) -> str | UserFacingError:
    """Reads only, and briefly: a person waits for it."""
    try:
        async with asyncio.timeout(_SECONDS):
            results = await run_commands(
                target,
                [_READING[target.dialect]],
                time_limit=_SECONDS,
                output_limit=_READABLE_LENGTH,
                lock=lab.console_lock,
            )
    except TimeoutError:
        return ToolFailed(f"{target.name} did not answer within {_SECONDS:.0f} s.")
    except UserFacingError as error:
        return error
    if results[0].error:
        return ToolFailed(f"{target.name}: {results[0].error}")
    return results[0].output


def _digest(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    kept = [line for line in lines if line and not _VOLATILE.match(line.strip())]
    return digest("\n".join(kept).encode())


def _words(parts: Sequence[dict[str, Any]]) -> str:
    """How many lines that change something, and where."""
    counts = [
        f"{part['device']} ({_changing(part)} of {len(part['commands'])})"
        for part in parts
    ]
    return f"Run lines that change {', '.join(counts)}"


def _changing(part: dict[str, Any]) -> int:
    return sum(line["effect"] != "read" for line in part["commands"])


def _edit(arguments: RunCommands, proposal: dict[str, Any]) -> dict[str, Any]:
    """Other lines on the same devices; raises ToolFailed for lines that are refused."""
    known = {
        part[name].casefold(): part
        for part in proposal["devices"]
        for name in ("device", "asked")
    }
    parts = []
    for wanted in arguments.devices:
        part = known.get(wanted.device.strip().casefold())
        if part is None:
            raise ToolFailed(
                f"“{wanted.device}” is none of the devices that were asked about: an "
                "edit may change the lines, not the devices."
            )
        # Without one nothing will be typed there.
        if part["dialect"]:
            refuse(part["dialect"], wanted.commands)
        commands = _lines(part["dialect"], wanted.commands)
        parts.append({**part, "commands": commands})
    return {**proposal, "summary": _words(parts), "devices": parts}


DEVICE_PREVIEW = Preview(_look, _edit)
