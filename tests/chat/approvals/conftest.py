"""A lab of one router: what it holds, what was run on it, and a run that waits."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat import approvals
from chat.agent.tools.base import Effect, Tool, ToolArguments, ToolFailed
from chat.agent.tools.kit import Kit
from chat.agent.tools.preview import Preview, Shown
from chat.models import ChatSession, Run
from llmconfig.models import LLMConfig
from projects.models import Membership, Project, Role
from tests.chat.conftest import InProcessWorker
from tests.chat.support import db, loaded, make_run, until, use_tools
from tests.fakes.provider import ScriptedProvider, calls, says

Waiting = Callable[..., Awaitable[Run]]


class Lines(ToolArguments):
    lines: list[str] = []


@dataclass
class Router:
    """Its configuration is what a change is bound to."""

    config: str = "hostname R1"
    ran: list[list[str]] = field(default_factory=list)
    is_readable: bool = True

    async def run(self, arguments: Lines, kit: Kit) -> dict[str, int]:
        self.ran.append(arguments.lines)
        return {"lines": len(arguments.lines)}

    async def look(self, arguments: Lines, kit: Kit) -> Shown:
        lines = [{"command": line, "effect": "change"} for line in arguments.lines]
        part = {"device": "R1", "asked": "R1", "dialect": "ios", "commands": lines}
        state = {"R1": self.config if self.is_readable else ""}
        return Shown("Change R1", [{**part, "note": ""}], state=state)

    @staticmethod
    def edit(arguments: Lines, proposal: dict[str, Any]) -> dict[str, Any]:
        if "reload" in arguments.lines:
            raise ToolFailed("Refused: “reload”.")
        return {**proposal, "summary": "Change R1, edited"}


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch) -> Router:
    """Tools: `look` only reads; `change` changes, and shows what."""
    router = Router()
    change = Tool(
        "change",
        "Changes.",
        Lines,
        router.run,
        lambda arguments: Effect.CHANGE,
        preview=Preview(router.look, router.edit),
    )
    tools = {"look": Tool("look", "Looks.", Lines, router.run), "change": change}
    use_tools(monkeypatch, tools)
    monkeypatch.setattr(approvals, "TOOLS", tools)
    return router


@pytest.fixture
def waiting(
    session: ChatSession,
    llm: LLMConfig,
    worker: InProcessWorker,
    router: Router,
    provider: ScriptedProvider,
) -> Waiting:
    """A run whose worker has let go of it: by default one call, then an answer."""

    async def waiting(*wanted: tuple[str, dict[str, Any]]) -> Run:
        ids = [f"c{number}" for number, _ in enumerate(wanted or [0])]
        asked = wanted or (("change", {"lines": ["hostname R2"]}),)
        provider.script(calls(*asked, ids=ids), says("Done."))
        run = await db(make_run)(session, text="Rename R1 to R2.")
        worker.publish(run)
        await until(lambda: status_of(run) not in ("queued", "running"), "it waits")
        await worker.finish()
        return await db(loaded)(run)

    return waiting


def status_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).status


@pytest.fixture
def carol(lab: Project) -> User:
    """Another engineer of the project."""
    carol = User.objects.create_user("carol", password="a-password-of-tests")
    Membership.objects.create(project=lab, user=carol, role=Role.ENGINEER)
    return carol
