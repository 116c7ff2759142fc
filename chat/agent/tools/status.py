"""report_status: a line of progress to whoever follows; never part of the answer."""

from pydantic import Field

from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.kit import Kit


class ReportStatus(ToolArguments):
    text: str = Field(
        min_length=1,
        max_length=200,
        description="What you do now, in one short line, in the person's language.",
    )


async def _report(arguments: ReportStatus, kit: Kit) -> dict[str, bool]:
    kit.say(" ".join(arguments.text.split()))
    return {"shown": True}


REPORT_STATUS = Tool(
    name="report_status",
    description=(
        "Tell the person in one line what you are doing, before a step that takes "
        "long. It is no part of your answer."
    ),
    arguments=ReportStatus,
    run=_report,
)
