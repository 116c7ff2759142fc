"""Changes the lab: starts, stops, creates, connects, sets addresses."""

import json
import re
from collections.abc import Mapping
from ipaddress import IPv4Interface
from typing import Any

from llmconfig.offline.build import role_of
from llmconfig.offline.evidence import ToolResult
from llmconfig.offline.markdown import fence
from llmconfig.offline.network import Role
from llmconfig.offline.show import run_and_show
from llmconfig.offline.steps import Call, Step, Turn

_ALL = re.compile(
    r"\b(?:all|every\w*|devices|nodes|lab|alle|alles|geräte|labor)\b|所有|全部|设备|实验",
    re.I,
)
_ADDRESS = re.compile(
    r"(\d+\.\d+\.\d+\.\d+)(?:\s*/\s*(\d{1,2})|\s+(255\.\d+\.\d+\.\d+))", re.I
)
_GATEWAY = re.compile(
    r"(?:gateway|\bgw\b|网关|\bvia\b|über)[^\d]{0,12}(\d+\.\d+\.\d+\.\d+)", re.I
)
_INTERFACE = re.compile(
    r"\b((?:fa|gi|e|f|g|s|lo|ethernet|fastethernet|gigabitethernet|serial|loopback)"
    r"\s?\d+(?:/\d+)*)\b",
    re.I,
)


def answer_rejected(turn: Turn, rejected: ToolResult) -> Step:
    """Says what was not done, and why; nothing else is tried in its place."""
    devices = rejected.arguments.get("devices")
    lines = [
        f"{entry.get('device')}: {'; '.join(map(str, entry.get('commands') or []))}"
        for entry in (devices if isinstance(devices, list) else [])
        if isinstance(entry, Mapping)
    ]
    what = "\n".join(lines) or f"{rejected.tool} {json.dumps(dict(rejected.arguments))}"
    reason = str(rejected.data.get("reason") or "")
    return turn.plain(
        turn.say("rejected"),
        turn.say("rejected.what"),
        fence(what),
        turn.say("rejected.reason", {"reason": reason}) if reason else "",
    )


def answer_start(turn: Turn) -> Step:
    return _switch(turn, "start_nodes", "started", "started")


def answer_stop(turn: Turn) -> Step:
    return _switch(turn, "stop_nodes", "stopped", "stopped")


def _switch(turn: Turn, tool: str, key: str, status: str) -> Step:
    step = turn.read_topology()
    if step:
        return step
    named = [m for m in turn.question.mentions(turn.names) if isinstance(m, str)]
    done = turn.evidence.of(tool)
    if done:
        result = done[-1]
        if result.error:
            return turn.failed(tool, result.error)
        names = ", ".join(_strings(result.data, key)) or "–"
        return turn.plain(turn.say(key, {"names": names}), failures(turn, result.data))
    if not named and _ALL.search(turn.question.text):
        named = [
            str(node.get("name", ""))
            for node in turn.evidence.nodes()
            if node.get("status") != status
        ]
        if not named:
            return turn.plain(turn.say(key, {"names": turn.listing}))
    if not named:
        unknown = turn.question.unknown_names(turn.names)
        message = "no_device" if unknown else "which_device"
        return turn.plain(turn.say(message, {"names": turn.listing}))
    return turn.call(Call(tool, {"nodes": named}))


def failures(turn: Turn, data: Mapping[str, Any]) -> str:
    """What a tool could not do, each with its reason."""
    failed = data.get("failed")
    items = [
        f"{item.get('name') or item.get('link') or '?'} ({item.get('error')})"
        for item in (failed if isinstance(failed, list) else [])
        if isinstance(item, Mapping)
    ]
    return turn.say("failed", {"names": "; ".join(items)}) if items else ""


def _strings(data: Mapping[str, Any], key: str) -> list[str]:
    value = data.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


def answer_address(turn: Turn) -> Step:
    step = turn.read_topology()
    if step:
        return step
    nodes = {str(node.get("name", "")): node for node in turn.evidence.nodes()}
    named = [m for m in turn.question.mentions(nodes) if isinstance(m, str)]
    if not named:
        unknown = turn.question.unknown_names(nodes)
        message = "no_device" if unknown else "which_device"
        return turn.plain(turn.say(message, {"names": turn.listing}))
    name, role = named[0], role_of(nodes[named[0]])
    if role not in {Role.HOST, Role.ROUTER}:
        return turn.plain(turn.say("no_console", {"device": name}))
    address = _address(turn.question.text)
    if address is None:
        return turn.plain(turn.say("no_address_given", {"device": name}))
    if role is Role.HOST:
        gateway = _GATEWAY.search(turn.question.text)
        line = f"ip {address} {gateway[1] if gateway else ''}".strip()
        return run_and_show(turn, [(name, [line, "show ip"])])
    return _router_address(turn, nodes[name], name, address)


def _router_address(
    turn: Turn, node: Mapping[str, Any], name: str, address: IPv4Interface
) -> Step:
    found = _INTERFACE.search(turn.question.text)
    if found is None:
        ports = _strings(node, "ports")
        facts = {"device": name, "example": ports[0] if ports else "f0/0"}
        return turn.plain(turn.say("which_interface", facts))
    commands = [
        "configure terminal",
        f"interface {found[1]}",
        f"ip address {address.ip} {address.netmask}",
        "no shutdown",
        "end",
        "show ip interface brief",
    ]
    return run_and_show(turn, [(name, commands)])


def _address(text: str) -> IPv4Interface | None:
    found = _ADDRESS.search(text)
    if found is None:
        return None
    try:
        return IPv4Interface(f"{found[1]}/{found[2] or found[3]}")
    except ValueError:
        return None
