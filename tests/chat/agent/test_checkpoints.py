import asyncio
import os
import subprocess
import sys
from pathlib import Path

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from chat.agent.checkpoints import Checkpoints, store_path, strict_serializer


def crafted(target: Path) -> tuple[str, bytes]:
    """A checkpoint that asks for os.mkdir to be called."""
    code = jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG
    packed = ormsgpack.packb(("os", "mkdir", str(target)))
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, packed))


def test_a_crafted_checkpoint_runs_nothing(tmp_path: Path) -> None:
    target = tmp_path / "made"

    strict_serializer().loads_typed(crafted(target))

    assert not target.exists()


@pytest.mark.filterwarnings("ignore")
def test_the_default_serialiser_would_run_it(tmp_path: Path) -> None:
    target = tmp_path / "made"

    JsonPlusSerializer().loads_typed(crafted(target))

    assert target.exists()


def test_what_the_graph_stores_survives_the_strict_serialiser() -> None:
    state = {
        "messages": [
            HumanMessage("Why?", id="1"),
            AIMessage(
                "",
                id="2",
                tool_calls=[{"id": "a", "name": "f", "args": {}, "type": "tool_call"}],
            ),
            ToolMessage("{}", id="3", tool_call_id="a", name="f"),
        ],
        "steps": 1,
    }
    serializer = strict_serializer()

    assert serializer.loads_typed(serializer.dumps_typed(state)) == state


@pytest.mark.parametrize("project_id", ["11111111-1111-4111-8111-111111111111", ""])
def test_a_store_lies_in_the_data_folder(project_id: str, settings: object) -> None:
    path = store_path(project_id)

    assert settings.DATA_DIR in path.parents
    assert path.parts[-2:] == ("gns3-copilot", "copilot_checkpoints.db")


async def test_unused_stores_are_closed_when_there_are_many(
    settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not settings.IS_SQLITE:
        pytest.skip("one store serves all on PostgreSQL")
    monkeypatch.setattr("chat.agent.checkpoints._OPEN_STORES", 2)
    stores = Checkpoints()

    async with stores.of("used"):
        for name in ("one", "two", "three"):
            async with stores.of(name):
                pass
        assert "used" in stores._stores
        assert len(stores._stores) <= 3
    await stores.close()

    assert not stores._stores


async def test_first_callers_at_once_open_one_store(settings: object) -> None:
    stores = Checkpoints()

    async def saver() -> object:
        async with stores.of("shared") as saver:
            await asyncio.sleep(0)
            return saver

    first, *others = await asyncio.gather(*(saver() for _ in range(8)))

    assert all(other is first for other in others)
    assert len(stores._stores) == 1
    await stores.close()


async def test_after_the_end_no_store_is_open(settings: object) -> None:
    if not settings.IS_SQLITE:
        pytest.skip("of files only")
    stores = Checkpoints()
    for name in ("one", "two"):
        async with stores.of(name):
            pass
    assert len(open_stores()) >= 2

    await stores.close()

    assert open_stores() == []


def open_stores() -> list[str]:
    """Of this process, as the system knows it."""
    links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    return [link for link in links if "copilot_checkpoints.db" in link]


WRITE = """
import asyncio, sys
import django
django.setup()
from chat.agent.checkpoints import Checkpoints
from chat.agent.state import State
from langgraph.graph import END, START, StateGraph
from langchain_core.messages import HumanMessage


async def main() -> None:
    stores = Checkpoints()
    async with stores.of("shared") as saver:
        graph = StateGraph(State)
        for name in "abc":
            graph.add_node(name, lambda state: {"steps": state["steps"] + 1})
        graph.add_edge(START, "a")
        graph.add_edge("a", "b")
        graph.add_edge("b", "c")
        graph.add_edge("c", END)
        compiled = graph.compile(checkpointer=saver)
        for turn in range(5):
            config = {"configurable": {"thread_id": f"{sys.argv[1]}-{turn}"}}
            asked = {"messages": [HumanMessage("x" * 4000)], "steps": 0}
            end = await compiled.ainvoke(asked, config)
            assert end["steps"] == 3
            await saver.adelete_thread(f"{sys.argv[1]}-{turn}")
    await stores.close()


asyncio.run(main())
"""


@pytest.mark.slow
def test_many_processes_write_one_store(tmp_path: Path) -> None:
    # Several workers on one file: "database is locked" must not lose a run.
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    environment["DJANGO_SETTINGS_MODULE"] = "copilot_site.settings"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(number)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]

    ends = [writer.communicate(timeout=120)[1] for writer in writers]

    assert [writer.returncode for writer in writers] == [0] * 6, ends
