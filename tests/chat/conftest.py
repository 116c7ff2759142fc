"""A conversation of alice, and models that answer it."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from django.contrib.auth.models import User

from chat import approvals, ending, runs, stopping
from chat.agent import runner
from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.models import ChatSession, Run
from llmconfig import clients
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.support import db, loaded, make_run, make_session, make_worker
from tests.conftest import Valkey
from tests.fakes.provider import ScriptedProvider

API_KEY = "sk-key-of-the-tests-0123456789"


@pytest.fixture
def session(lab: Project, alice: User) -> ChatSession:
    return make_session(alice, lab)


@pytest.fixture
def run(session: ChatSession) -> Run:
    """Queued, with its question."""
    return make_run(session)


@pytest.fixture
def llm(provider: ScriptedProvider, transactional_db: None) -> Iterator[LLMConfig]:
    """The site's model is the scripted provider."""
    # The pool of connections belongs to one loop; each test has its own.
    clients._http.cache_clear()
    yield LLMConfig.objects.create(
        name="Scripted",
        base_url=provider.url,
        model="scripted-1",
        api_key=API_KEY,
        input_price=2,
        output_price=8,
    )
    clients._http.cache_clear()


@pytest.fixture
async def checkpoints() -> AsyncIterator[Checkpoints]:
    stores = Checkpoints()
    yield stores
    # Titles may come after the end; none outlives its test.
    await asyncio.gather(*runner._background, return_exceptions=True)
    await stores.close()


class InProcessWorker:
    """Executes what is published, on the test's own loop."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self.executions: dict[str, Execution] = {}
        self._checkpoints = checkpoints
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    def publish(self, run: Run) -> bool:
        self._loop.call_soon_threadsafe(self._begin, run)
        return True

    def _begin(self, run: Run) -> None:
        self._tasks.add(asyncio.create_task(self._execute(run)))

    async def _execute(self, run: Run) -> None:
        def claim() -> Run:
            assert Run.objects.get(pk=run.pk).claim(make_worker())
            return loaded(run)

        execution = Execution(await db(claim)(), self._checkpoints)
        self.executions[str(run.pk)] = execution
        await execution.execute()

    def stop(self, run: Run) -> None:
        """In place of the signal over Redis."""
        if execution := self.executions.get(str(run.pk)):
            self._loop.call_soon_threadsafe(execution.stop, run.reason)

    async def finish(self) -> None:
        """Wait for what runs; its errors are the test's."""
        await asyncio.gather(*self._tasks)


@pytest.fixture
async def worker(
    checkpoints: Checkpoints, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[InProcessWorker]:
    worker = InProcessWorker(checkpoints)
    monkeypatch.setattr(runs, "publish", worker.publish)
    monkeypatch.setattr(ending, "publish", worker.publish)
    monkeypatch.setattr(approvals, "publish", worker.publish)
    monkeypatch.setattr(stopping, "signal_stop", worker.stop)
    yield worker
    for task in worker._tasks:
        task.cancel()
    await asyncio.gather(*worker._tasks, return_exceptions=True)
