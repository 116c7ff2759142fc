"""Gathers what a run lends its tools: the only place that knows all its sources."""

from collections.abc import Callable, Sequence

from chat.agent.context import RunContext, lab_of
from chat.agent.progress import Progress
from chat.agent.tools.kit import Kit, tell_nobody
from chat.agent.tools.lab import Lab
from chat.datasources.service import sources_for
from chat.directory.lookup import Records
from chat.documents.service import documents_for
from chat.knowledge.service import knowledge_for
from chat.memory.notes import Notes
from chat.websearch.search import web_search
from copilot_site.lib.orm import in_orm_thread


async def kit_of(context: RunContext, say: Callable[[str], None]) -> Kit:
    # Its client belongs to the running loop.
    lab = lab_of(context)
    return await in_orm_thread(_kit)(context, lab, say)


def _kit(context: RunContext, lab: Lab | None, say: Callable[[str], None]) -> Kit:
    """In a thread: it reads the database."""
    profile = context.profile
    return Kit(
        lab=lab,
        data=sources_for(
            context.user,
            profile.data_sources,
            settings=profile.tool_settings.get("query_data"),
        ),
        knowledge=knowledge_for(
            context.user, context.project, collections=_collections(context)
        ),
        documents=documents_for(context.session),
        directory=Records(context.user, context.project),
        memory=Notes(context.user, context.project),
        web=web_search(),
        settings=profile.tool_settings,
        say=Progress(say) if profile.shows_status else tell_nobody,
    )


def _collections(context: RunContext) -> Sequence[str] | None:
    """Those of the profile, or of them those that the request names; None: all."""
    allowed, asked = context.profile.collections, context.options.get("collections")
    if asked is None:
        return allowed
    return [name for name in asked if allowed is None or name in allowed]
