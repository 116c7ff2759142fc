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
