"""A site with evidence, for tests of grounded answers."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.agent import runner
from chat.agent.tools import TOOLS
from chat.agent.tools.directory import LOOKUP_RECORDS, LOOKUPS
from chat.agent.tools.kit import Kit
from chat.agent.tools.knowledge import SEARCH_DOCUMENTS
from chat.agent.tools.memory import FORGET, RECALL, REMEMBER
from chat.models import ChatSession, Run
from tests.chat.support import make_run, make_session
from tests.fakes.evidence import FakeDirectory, FakeKnowledge, FakeMemory, document

LIBRARY = document(
    "The library opens at 8:00 and closes at 22:00 on weekdays. On Saturdays it "
    "opens at 10:00.",
    "Library guide",
)


class Site:
    """What the runs of a test find; each part may be replaced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.knowledge: FakeKnowledge | None = FakeKnowledge(LIBRARY)
        self.directory: FakeDirectory | None = FakeDirectory()
        self.memory: FakeMemory | None = FakeMemory()
        tools = [SEARCH_DOCUMENTS, *LOOKUPS, LOOKUP_RECORDS, REMEMBER, RECALL, FORGET]
        for tool in tools:
            monkeypatch.setitem(TOOLS, tool.name, tool)
        monkeypatch.setattr(runner, "kit_of", self.kit)

    async def kit(self, context: Any, say: Any) -> Kit:
        return Kit(
            knowledge=self.knowledge,
            directory=self.directory,
            memory=self.memory,
            say=say,
        )


def grounded_run(
    user: User, text: str, session: ChatSession | None = None, **fields: Any
) -> Run:
    """Queued, in no project."""
    return make_run(
        session or make_session(user, None),
        text=text,
        profile="campus",
        agent="grounded",
        **fields,
    )
