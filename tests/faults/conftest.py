"""One running product for all these tests; each leaves nothing stuck behind."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.fakes.provider import ScriptedProvider, says
from tests.stack import Postgres, Stack, eventually

SETTLE_SECONDS = 45.0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On SQLite; with the mark `database`, where time allows, on PostgreSQL as well."""
    if "product" in metafunc.fixturenames:
        kinds = [pytest.param("sqlite")]
        if metafunc.definition.get_closest_marker("database"):
            marks = [pytest.mark.needs("postgres"), pytest.mark.slow]
            kinds.append(pytest.param("postgres", marks=marks))
        metafunc.parametrize("product", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def language_model() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(scope="session")
def product(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    language_model: ScriptedProvider,
) -> Iterator[Stack]:
    kind = request.param
    stack = Stack(
        tmp_path_factory.mktemp(kind),
        database=kind,
        postgres=request.getfixturevalue("postgres") if kind == "postgres" else None,
        env={
            "LLM_BASE_URL": language_model.url,
            "LLM_MODEL": "scripted",
            "LLM_API_KEY": "key-of-the-scripted-model",
            "HEARTBEAT_SECONDS": "3",
        },
    )
    try:
        with stack:
            yield stack
    finally:
        for name in ("web", "worker", "worker2"):
            print(f"--- {name}\n{stack.logs(name)[-4000:]}")


@pytest.fixture
def model(language_model: ScriptedProvider) -> ScriptedProvider:
    """Says hello until a test tells it otherwise."""
    language_model.requests.clear()
    language_model.title_requests.clear()
    language_model.script(says("Hello from the model."))
    return language_model


@pytest.fixture
def stack(product: Stack, model: ScriptedProvider) -> Iterator[Stack]:
    product.make_whole()
    yield product
    product.make_whole()
    eventually(
        lambda: stuck(product) == [],
        f"nothing is stuck: {stuck(product)}",
        seconds=SETTLE_SECONDS,
    )


def stuck(stack: Stack) -> list[str]:
    """Whatever should not outlive the runs of a test."""
    queries = {
        "run": "SELECT status, id FROM chat_run"
        " WHERE status NOT IN ('succeeded', 'failed', 'stopped')",
        "model call": "SELECT status, id FROM chat_llmcall WHERE status = 'started'",
        "tool call": "SELECT status, id FROM chat_toolcall"
        " WHERE status IN ('pending', 'running')",
    }
    found = [
        f"{what} {status} {key}"
        for what, query in queries.items()
        for status, key in stack.rows(query)
    ]
    locks = stack.redis().keys("copilot:console:*")
    return found + [f"lock {key!r}" for key in locks] + checkpoints(stack)


def checkpoints(stack: Stack) -> list[str]:
    """LangGraph's threads that are still stored."""
    if stack.database == "postgres":
        tables = stack.rows("SELECT to_regclass('checkpoints')")
        if tables == [(None,)]:
            return []
        names = ("checkpoints", "checkpoint_writes", "checkpoint_blobs")
        return [
            f"{name} {thread}"
            for name in names
            for (thread,) in stack.rows(f"SELECT DISTINCT thread_id FROM {name}")
        ]
    found = []
    for path in stack.data_dir.glob("projects/*/gns3-copilot/*.db"):
        with closing(sqlite3.connect(path, timeout=20)) as database:
            for name in ("checkpoints", "writes"):
                rows = database.execute(f"SELECT DISTINCT thread_id FROM {name}")
                found += [f"{name} {thread}" for (thread,) in rows]
    return found
