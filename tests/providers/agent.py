"""The agent in this process: real rows, events and graph, a tool of the tests."""

import asyncio
import datetime
import decimal
import uuid
from typing import Any

from pydantic import Field

from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.kit import Kit
from chat.models import ChatSession, Message, Run
from tests.chat.support import claimed, db, loaded, make_run


class ProbeArguments(ToolArguments):
    at: str = Field(default="", description="What to return.")
    number: int = 0


class Probe:
    """A tool that returns, or raises, what real ones have."""

    def __init__(self) -> None:
        self.count = 0

    async def run(self, arguments: ProbeArguments, kit: Kit) -> Any:
        self.count += 1
        match arguments.at:
            case "huge":
                return "x" * 2_000_000
            case "parts":
                return [{"type": "text", "text": "r"}]
            case "odd":
                moment = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
                values = [moment, uuid.uuid4(), {1}, decimal.Decimal(1), b"\xff"]
                return {"values": values, "large": 2**70, 5: "\ud83d\x00"}
            case "sleep":
                await asyncio.sleep(60)
            case "raise":
                raise ValueError("device unreachable")
        return "done"

    def tool(self) -> Tool[ProbeArguments]:
        return Tool("probe", "For tests.", ProbeArguments, self.run)


async def ask(session: ChatSession, text: str = "Why?") -> Run:
    """Ask, and let this process be the worker."""
    run, execution, checkpoints = await started(session, text)
    try:
        await execution.execute()
    finally:
        await checkpoints.close()
    return await db(loaded)(run)


async def started(
    session: ChatSession, text: str = "Why?"
) -> tuple[Run, Execution, Checkpoints]:
    """Claimed, and ready to be executed."""
    run = await db(make_run)(session, text=text)
    run = await db(claimed)(run)
    checkpoints = Checkpoints()
    return run, Execution(run, checkpoints), checkpoints


async def rows_of(run: Run) -> list[Message]:
    rows = Message.objects.filter(run=run).exclude(role=Message.Role.USER)
    return [row async for row in rows.order_by("sequence")]
