"""Runs executed in this process, against the scripted provider over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from chat.agent import runner
from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.models import ChatSession, Run
from llmconfig.models import LLMConfig
from tests.chat.support import claimed, db, loaded, make_run
from tests.conftest import Valkey

Execute = Callable[[Run], Awaitable[Run]]


@pytest.fixture
def started(session: ChatSession, llm: LLMConfig, valkey: Valkey) -> Run:
    """Claimed by a worker that has not begun."""
    return claimed(make_run(session))


@pytest.fixture
async def checkpoints() -> AsyncIterator[Checkpoints]:
    stores = Checkpoints()
    yield stores
    # Titles may come after the end; none outlives its test.
    await asyncio.gather(*runner._background, return_exceptions=True)
    await stores.close()


@pytest.fixture
def execute(checkpoints: Checkpoints) -> Execute:
    """Execute to the end; the run as its row has it then."""

    async def execute(run: Run) -> Run:
        await Execution(run, checkpoints).execute()
        return await db(loaded)(run)

    return execute
