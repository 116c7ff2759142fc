"""The tools of the lab agent."""

from collections.abc import Collection, Mapping
from typing import Any

from chat.agent.tools.base import Tool
from chat.agent.tools.data import DESCRIBE_DATA, QUERY_DATA
from chat.agent.tools.devices import RUN_COMMANDS
from chat.agent.tools.directory import LOOKUP_RECORDS, LOOKUPS
from chat.agent.tools.documents import LIST_DOCUMENTS, READ_DOCUMENT
from chat.agent.tools.kit import Kit
from chat.agent.tools.knowledge import SEARCH_DOCUMENTS
from chat.agent.tools.links import CREATE_LINKS
from chat.agent.tools.memory import FORGET, RECALL, REMEMBER
from chat.agent.tools.nodes import CREATE_NODES, START_NODES, STOP_NODES
from chat.agent.tools.status import REPORT_STATUS
from chat.agent.tools.topology import LIST_TEMPLATES, READ_TOPOLOGY
from chat.agent.tools.web import SEARCH_WEB

_TOOLS: list[Tool[Any]] = [
    READ_TOPOLOGY,
    LIST_TEMPLATES,
    CREATE_NODES,
    CREATE_LINKS,
    START_NODES,
    STOP_NODES,
    RUN_COMMANDS,
    REPORT_STATUS,
    *LOOKUPS,
    LOOKUP_RECORDS,
    REMEMBER,
    RECALL,
    FORGET,
    SEARCH_WEB,
    SEARCH_DOCUMENTS,
    LIST_DOCUMENTS,
    READ_DOCUMENT,
    DESCRIBE_DATA,
    QUERY_DATA,
]
TOOLS: dict[str, Tool[Any]] = {tool.name: tool for tool in _TOOLS}


def available(tools: Mapping[str, Tool[Any]], kit: Kit) -> dict[str, Tool[Any]]:
    """Those that have what they need in this run."""
    return {name: tool for name, tool in tools.items() if tool.is_available(kit)}


def offered(names: Collection[str], kit: Kit) -> dict[str, Tool[Any]]:
    """Those of a profile that are available; no other can be called."""
    return available({name: TOOLS[name] for name in TOOLS if name in names}, kit)
