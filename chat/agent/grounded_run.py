"""A grounded run: what its graph is lent, from rows, profile and settings."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from langchain_core.runnables import RunnableConfig

from chat.agent.context import RunContext
from chat.agent.grounded.followups import is_fragment
from chat.agent.grounded.graph import build_grounded_graph
from chat.agent.grounded.state import (
    GroundedContext,
    GroundedState,
    current_planner,
)
from chat.agent.grounded_planning import (
    PlanningReports,
    planning_choice,
    planning_model,
)
from chat.agent.grounded_record import GroundedRecord
from chat.agent.prompts import system_prompt
from chat.agent.tools import offered
from chat.agent.tools.kit import Kit
from chat.models import Message, Run
from copilot_site.lib.orm import in_orm_thread
from llmconfig.fallback import FallbackModel

# Messages: enough for a dozen of "what else?".
_LOOKED_BACK = 40


async def answer_grounded(
    record: GroundedRecord,
    context: RunContext,
    kit: Kit,
    saver: Any,
    config: RunnableConfig,
) -> None:
    """Run the grounded graph to its end, from where the rows end."""
    record.planning = await in_orm_thread(planning_choice)(record.run, context)
    token = current_planner.set(_planner(record, context))
    try:
        await _run_graph(record, context, kit, saver, config)
    finally:
        current_planner.reset(token)


def _planner(record: GroundedRecord, context: RunContext) -> FallbackModel | None:
    if record.planning is None:
        return None
    model = planning_model(record.planning, context)
    model.report_to(PlanningReports(record, record.planning))
    return model


async def _run_graph(
    record: GroundedRecord,
    context: RunContext,
    kit: Kit,
    saver: Any,
    config: RunnableConfig,
) -> None:
    state: GroundedState = {
        "messages": context.messages,
        "trace": record.trace(),
        "verdict": {},
    }
    await build_grounded_graph(saver).ainvoke(
        state,
        config,
        context=GroundedContext(
            journal=record,
            grounded=record,
            tools=offered(context.profile.tools, kit),
            system_prompt=system_prompt(context, kit),
            step_limit=settings.STEP_LIMIT,
            output_limit=settings.TOOL_OUTPUT_LENGTH,
            # A plan has no tools that change a lab; see grounded/steps.py.
            may_change=True,
            approval="trust",
            fit=context.fit,
            masked=context.masked,
            registry=record.registry,
            now=timezone.localtime(),
            is_offline=context.choice.is_offline,
            planner=context.profile.planner or settings.PLANNER,
            planning_seconds=settings.PLANNER_SECONDS,
            cited_before=await in_orm_thread(_cited_before)(record.run),
        ),
        durability="async",
    )


def _cited_before(run: Run) -> frozenset[str]:
    """Ids of passages cited since the last question with a topic of its own."""
    said = (
        run.session.messages.filter(round__lt=run.round)
        .exclude(role=Message.Role.TOOL)
        .order_by("-round", "-sequence")[:_LOOKED_BACK]
    )
    found: set[str] = set()
    for message in said:
        found.update(one["id"] for one in message.metadata.get("citations", ()))
        if message.role == Message.Role.USER and not is_fragment(message.content):
            break
    return frozenset(found)
