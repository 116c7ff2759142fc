"""The lab agent cites what devices said, and old lines are marked after a change."""

import asyncio
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from chat.agent.tools import devices
from chat.agent.tools.base import Effect, Tool, ToolArguments
from chat.agent.tools.commands import RunCommands
from chat.agent.tools.devices import RUN_COMMANDS
from chat.agent.tools.kit import Evidence, Kit, Passage, now
from chat.export import as_markdown
from chat.history import newest_messages, turns_of
from chat.models import ChatSession, Message, Run, ToolCall
from chat.models.run import Status
from llmconfig.models import LLMConfig
from projects.consoles import CommandResult
from tests.chat.agent.conftest import Execute
from tests.chat.support import claimed, db, make_run, use_tools
from tests.conftest import Valkey
from tests.fakes.provider import ScriptedProvider, calls, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


class On(ToolArguments):
    device: str = "PC1"


async def _look(arguments: On, kit: Kit) -> Evidence:
    seen = datetime.now(UTC).isoformat()
    passage = Passage(
        id=f"device:{arguments.device}:{seen}",
        kind="device",
        title=f"{arguments.device} · show ip",
        text="GATEWAY : 0.0.0.0",
        location=arguments.device,
        time=seen,
    )
    value = {"devices": [{"device": arguments.device, "cite": passage.id}]}
    return Evidence(value, [passage])


async def _change(arguments: On, kit: Kit) -> Evidence:
    return Evidence({"done": True}, changed=now([arguments.device]))


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.APPROVAL_POLICY = "trust"
    use_tools(
        monkeypatch,
        {
            "look": Tool("look", "", On, _look),
            "change": Tool("change", "", On, _change, lambda _: Effect.CHANGE),
        },
    )


def shown(session: ChatSession) -> list[dict[str, Any]]:
    """The citations of its messages, as history shows them."""
    turns = turns_of(session, newest_messages(session, limit=50))
    return [one for turn in turns for one in turn["metadata"].get("citations", ())]


async def ask(session: ChatSession, execute: Execute) -> Run:
    run = await execute(await db(lambda: claimed(make_run(session)))())
    assert run.status == Status.SUCCEEDED, run.error
    return run


async def test_an_answer_lists_the_lines_that_it_cites(
    session: ChatSession,
    llm: LLMConfig,
    valkey: Valkey,
    execute: Execute,
    provider: ScriptedProvider,
    tools: None,
) -> None:
    provider.script(
        calls(("look", {"device": "PC1"}), ("look", {"device": "R1"})),
        says("PC1 has no gateway [1]."),
    )

    run = await ask(session, execute)

    results = [m for m in provider.requests[1].messages if m["role"] == "tool"]
    marks = {json.loads(m["content"])["devices"][0]["cite"] for m in results}
    assert marks == {"[1]", "[2]"}
    message = await Message.objects.filter(run=run, role="assistant").alast()
    assert message is not None
    (citation,) = message.metadata["citations"]
    assert citation["n"] == 1
    assert citation["kind"] == "device"
    stored = [call async for call in ToolCall.objects.filter(run=run)]
    numbers = [one["n"] for call in stored for one in call.evidence["passages"]]
    assert sorted(numbers) == [1, 2]


async def test_lines_read_before_a_change_of_their_device_are_stale(
    session: ChatSession,
    llm: LLMConfig,
    valkey: Valkey,
    execute: Execute,
    provider: ScriptedProvider,
    tools: None,
) -> None:
    provider.script(
        calls(("look", {"device": "PC1"}), ("look", {"device": "R1"}), ids=["a", "b"]),
        says("Both were read [1] [2]."),
        calls(("change", {"device": "PC1"}), ids=["c"]),
        calls(("look", {"device": "PC1"}), ids=["d"]),
        says("Now it is set [1]."),
    )

    await ask(session, execute)
    assert not any(one.get("stale") for one in await db(shown)(session))
    await ask(session, execute)

    stale = [
        (one["location"], one.get("stale", False)) for one in await db(shown)(session)
    ]
    assert sorted(stale[:2]) == [("PC1", True), ("R1", False)]
    assert stale[2:] == [("PC1", False)]
    assert "read before a later change" in await db(as_markdown)(session)
    # The earlier round's numbers would point to this round's lines.
    earlier = [m for m in provider.requests[2].messages if m["role"] != "system"]
    assert "[1]" not in json.dumps(earlier)


async def test_numbers_are_the_same_after_a_takeover(
    session: ChatSession, llm: LLMConfig, valkey: Valkey, tools: None
) -> None:
    from chat.agent.citations import Registry

    passage = Passage("device:1", "device", "PC1 · show ip", "lines", "PC1")
    other = Passage("device:2", "device", "R1 · show ip", "lines", "R1")
    first = Registry()
    first.add(other)
    assert first.add(passage) == 2

    heir = Registry()
    heir.restore([{"passages": first.citations([2])}])

    assert heir.add(passage) == 2
    assert heir.cited_in("so [2], not [1]") == first.citations([2])


async def test_each_command_is_a_passage_and_changes_are_dated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run(*args: Any, **kwargs: Any) -> list[CommandResult]:
        await asyncio.sleep(0)
        return [
            CommandResult("show ip", "GATEWAY : 0.0.0.0", False, "", 1.0),
            CommandResult("ip 10.0.0.2/24 10.0.0.1", "PC1 : 10.0.0.2", False, "", 1.0),
            CommandResult("show ip", "GATEWAY : 10.0.0.1", False, "", 1.0),
        ]

    monkeypatch.setattr(devices, "run_commands", run)
    monkeypatch.setattr(
        devices, "find_node", lambda nodes, name: SimpleNamespace(name=name)
    )
    target = SimpleNamespace(dialect="vpcs")
    monkeypatch.setattr(devices, "console_of", lambda node: target)

    async def nodes(project_id: str) -> list[Any]:
        return []

    lab: Any = SimpleNamespace(
        client=SimpleNamespace(nodes=nodes), project_id="p", console_lock=None
    )
    commands = ["show ip", "ip 10.0.0.2/24 10.0.0.1", "show ip"]
    wanted = {"devices": [{"device": "PC1", "commands": commands}]}

    found = await RUN_COMMANDS.run(RunCommands.model_validate(wanted), Kit(lab=lab))

    before, change, after = found.passages
    assert before.title == "PC1 · show ip"
    assert before.time < found.changed["PC1"] == change.time < after.time
    cites = [one["cite"] for one in found.value["devices"][0]["commands"]]
    assert cites == [one.id for one in found.passages]
    assert len(set(cites)) == 3
