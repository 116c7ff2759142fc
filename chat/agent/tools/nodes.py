"""Creating, starting and stopping devices."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import Field

from chat.agent.tools.base import Effect, Tool, ToolArguments, ToolFailed
from chat.agent.tools.kit import Evidence, in_lab, now
from chat.agent.tools.lab import Lab, find_node
from chat.agent.tools.topology_preview import of_topology
from copilot_site.lib.errors import UserFacingError
from projects.gns3.types import Gns3Node, Gns3Template

# New devices stand in a row below the lab, far enough apart to be read.
_SPACING = 150


class NewNode(ToolArguments):
    template: str = Field(description="Name of a template, e.g. VPCS.")
    name: str | None = Field(None, description="Device name; the server's if left out.")
    x: int | None = None
    y: int | None = None


class CreateNodes(ToolArguments):
    nodes: list[NewNode] = Field(min_length=1, max_length=50)


class NodeNames(ToolArguments):
    nodes: list[str] = Field(
        min_length=1, max_length=100, description="Device names or node ids."
    )


async def _create_nodes(arguments: CreateNodes, lab: Lab) -> dict[str, Any]:
    templates = await lab.client.templates()
    present = await lab.client.nodes(lab.project_id)
    bottom = max((node.y for node in present), default=-_SPACING) + _SPACING
    created, failed = [], []
    for index, wanted in enumerate(arguments.nodes):
        try:
            template = _find_template(templates, wanted.template)
            node = await lab.client.create_node(
                lab.project_id,
                template_id=template.template_id,
                x=wanted.x if wanted.x is not None else index * _SPACING,
                y=wanted.y if wanted.y is not None else bottom,
                name=wanted.name or "",
            )
        except UserFacingError as error:
            failed.append({"name": wanted.name or wanted.template, "error": str(error)})
        else:
            created.append({"name": node.name, "node_id": node.node_id})
    return {"created": created, "failed": failed}


def _find_template(templates: Sequence[Gns3Template], name: str) -> Gns3Template:
    for template in templates:
        if template.name.casefold() == name.strip().casefold():
            return template
    known = ", ".join(template.name for template in templates)
    raise ToolFailed(f"There is no template “{name}”. Templates: {known}.")


async def _start_nodes(arguments: NodeNames, lab: Lab) -> Evidence:
    started, failed = await _for_each(arguments, lab, lab.client.start_node)
    return Evidence({"started": started, "failed": failed}, changed=now(started))


async def _stop_nodes(arguments: NodeNames, lab: Lab) -> Evidence:
    stopped, failed = await _for_each(arguments, lab, lab.client.stop_node)
    return Evidence({"stopped": stopped, "failed": failed}, changed=now(stopped))


async def _for_each(
    arguments: NodeNames, lab: Lab, act: Callable[[str, str], Awaitable[object]]
) -> tuple[list[str], list[dict[str, str]]]:
    nodes = await lab.client.nodes(lab.project_id)

    async def one(name: str) -> Gns3Node | UserFacingError:
        try:
            node = find_node(nodes, name)
            await act(lab.project_id, node.node_id)
        except UserFacingError as error:
            return error
        return node

    results = await asyncio.gather(*(one(name) for name in arguments.nodes))
    done, failed = [], []
    for name, result in zip(arguments.nodes, results, strict=True):
        if isinstance(result, UserFacingError):
            failed.append({"name": name, "error": str(result)})
        else:
            done.append(result.name)
    return done, failed


def _change(arguments: ToolArguments) -> Effect:
    return Effect.CHANGE


def _idempotent(arguments: ToolArguments) -> Effect:
    return Effect.IDEMPOTENT


def _words(arguments: CreateNodes) -> str:
    names = [
        f"{node.name} ({node.template})" if node.name else node.template
        for node in arguments.nodes
    ]
    return f"Create {', '.join(names)}"


CREATE_NODES = Tool(
    name="create_nodes",
    description="Create devices from templates. They are created stopped.",
    arguments=CreateNodes,
    run=in_lab(_create_nodes),
    needs="lab",
    effect_of=_change,
    preview=of_topology(_words),
)
START_NODES = Tool(
    name="start_nodes",
    description="Start devices; one that runs already stays as it is.",
    arguments=NodeNames,
    run=in_lab(_start_nodes),
    needs="lab",
    effect_of=_idempotent,
    preview=of_topology(lambda arguments: f"Start {', '.join(arguments.nodes)}"),
)
STOP_NODES = Tool(
    name="stop_nodes",
    description="Stop devices. What they have not saved is lost.",
    arguments=NodeNames,
    run=in_lab(_stop_nodes),
    needs="lab",
    effect_of=_change,
    preview=of_topology(lambda arguments: f"Stop {', '.join(arguments.nodes)}"),
)
