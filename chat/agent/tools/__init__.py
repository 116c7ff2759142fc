"""The tools of the lab agent."""

from collections.abc import Mapping
from typing import Any

from chat.agent.tools.base import Tool
from chat.agent.tools.devices import RUN_COMMANDS
from chat.agent.tools.kit import Kit
from chat.agent.tools.links import CREATE_LINKS
from chat.agent.tools.nodes import CREATE_NODES, START_NODES, STOP_NODES
from chat.agent.tools.topology import LIST_TEMPLATES, READ_TOPOLOGY

_TOOLS: list[Tool[Any]] = [
    READ_TOPOLOGY,
    LIST_TEMPLATES,
    CREATE_NODES,
    CREATE_LINKS,
    START_NODES,
    STOP_NODES,
    RUN_COMMANDS,
]
TOOLS: dict[str, Tool[Any]] = {tool.name: tool for tool in _TOOLS}


def available(tools: Mapping[str, Tool[Any]], kit: Kit) -> dict[str, Tool[Any]]:
    """Those that have what they need in this run."""
    return {name: tool for name, tool in tools.items() if tool.is_available(kit)}
