"""lookup_…: records of the site's directory, one tool for each shipped kind."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import Field

from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.kit import Evidence, Kit
from chat.directory.kinds import SHIPPED, Kind

_LIMIT = 20
_ABOUT = {
    "faculty": "Look up teachers and staff: role, department, office, office hours.",
    "courses": "Look up courses: teacher, department, credits, semester, contents.",
    "facilities": "Look up rooms and labs: building, capacity, equipment, opening.",
    "timetables": "Look up when and where classes are: course, weekday, time, room.",
    "departments": "Look up departments: head, building, office, contact.",
}
_HOW = "Without arguments it lists them all. Fields: {}."


class Lookup(ToolArguments):
    text: str = Field(
        default="",
        max_length=500,
        description="A name, a key or words of what is looked for; slips are forgiven.",
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        max_length=10,
        description="Values that fields must have; numbers may be such as >=5.",
    )
    weekday: str = Field(
        default="", max_length=100, description="Such as Monday, or Mon-Wed."
    )
    time: str = Field(
        default="", max_length=100, description="Such as 10:00, or 10:00-12:00."
    )


class LookupRecords(Lookup):
    kind: str = Field(max_length=50, description="Which kind of record.")


async def _look_up(arguments: Lookup, kit: Kit, kind: str, tool: str) -> Evidence:
    # The tool is not offered without a directory.
    assert kit.directory is not None
    return await kit.directory.lookup(
        kind,
        text=arguments.text,
        fields=arguments.fields,
        weekday=arguments.weekday,
        time=arguments.time,
        limit=kit.settings.get(tool, {}).get("results", _LIMIT),
    )


def _of_kind(
    slug: str,
) -> Callable[[Lookup, Kit], Awaitable[Any]]:
    async def run(arguments: Lookup, kit: Kit) -> Evidence:
        return await _look_up(arguments, kit, slug, f"lookup_{slug}")

    return run


async def _any_kind(arguments: LookupRecords, kit: Kit) -> Evidence:
    return await _look_up(arguments, kit, arguments.kind, "lookup_records")


def _tool(kind: Kind) -> Tool[Lookup]:
    names = ", ".join(field.name for field in kind.fields)
    return Tool(
        name=f"lookup_{kind.slug}",
        description=f"{_ABOUT[kind.slug]} {_HOW.format(names)}",
        arguments=Lookup,
        run=_of_kind(kind.slug),
        needs="directory",
    )


LOOKUPS = [_tool(kind) for kind in SHIPPED]
LOOKUP_RECORDS = Tool(
    name="lookup_records",
    description=(
        "Look up records of a kind that this site has defined itself; a wrong kind is "
        "answered with the names of those that there are."
    ),
    arguments=LookupRecords,
    run=_any_kind,
    needs="directory",
)
