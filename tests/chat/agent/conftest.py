"""Runs executed in this process, against the scripted provider over HTTP."""

from collections.abc import Awaitable, Callable

import pytest

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
def execute(checkpoints: Checkpoints) -> Execute:
    """Execute to the end; the run as its row has it then."""

    async def execute(run: Run) -> Run:
        await Execution(run, checkpoints).execute()
        return await db(loaded)(run)

    return execute
