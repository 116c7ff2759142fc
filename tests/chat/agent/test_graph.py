import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from chat.agent.graph import build_graph
from chat.agent.nodes import StepLimitReached
from chat.agent.state import Context, ToolResult, current_kit, current_model
from chat.agent.tools.base import Effect, Tool, ToolArguments, ToolFailed
from chat.agent.tools.kit import Kit
from llmconfig.chain import Candidate, Chain
from llmconfig.errors import ModelStreamCut
from llmconfig.fallback import FallbackModel
from llmconfig.window import unlimited
from tests.fakes.journal import MemoryJournal
from tests.fakes.models import ScriptedModel, call, piece, text

LAB: Any = object()


class Wanted(ToolArguments):
    x: int = 0


def tool(
    name: str,
    run: Callable[[Wanted], Awaitable[Any]],
    effect: Effect = Effect.READ,
) -> Tool[Wanted]:
    async def with_lab(arguments: Wanted, kit: Kit) -> Any:
        assert kit.lab is LAB
        return await run(arguments)

    return Tool(name, f"Does {name}.", Wanted, with_lab, lambda arguments: effect)


async def double(arguments: Wanted) -> dict[str, int]:
    return {"doubled": arguments.x * 2}


async def run_graph(
    model: ScriptedModel,
    *tools: Tool[Wanted],
    journal: MemoryJournal | None = None,
    messages: list[Any] | None = None,
    step_limit: int = 10,
    **fields: Any,
) -> tuple[list[Any], MemoryJournal]:
    async def prompt() -> str:
        return "You are a copilot."

    journal = journal or MemoryJournal()
    candidate = Candidate("Scripted", lambda: model, fields.pop("fit", unlimited))
    run_model = FallbackModel(Chain([candidate]), journal)
    model_token, kit_token = current_model.set(run_model), current_kit.set(Kit(lab=LAB))
    try:
        state = await build_graph().ainvoke(
            {"messages": messages or [HumanMessage("Why?")], "steps": 0},
            context=Context(
                journal=journal,
                tools={each.name: each for each in tools},
                system_prompt=prompt,
                step_limit=step_limit,
                output_limit=fields.pop("output_limit", 1000),
                may_change=fields.pop("may_change", True),
                # Most are about calls that run; those of the gate say otherwise.
                approval=fields.pop("approval", "trust"),
                **fields,
            ),
        )
    finally:
        current_kit.reset(kit_token)
        current_model.reset(model_token)
    return state["messages"], journal


def output(journal: MemoryJournal, call_id: str) -> Any:
    return json.loads(journal.results[call_id].output)


async def test_a_plain_answer_ends_the_run() -> None:
    messages, journal = await run_graph(ScriptedModel(text("PC1 ", "is off.")))

    assert journal.texts == ["PC1 ", "is off."]
    assert messages[-1].content == "PC1 is off."


async def test_a_result_goes_back_to_the_model() -> None:
    model = ScriptedModel(
        [*text()[:-1], call("f", '{"x": 4}', id="a"), *text()], text("8")
    )

    messages, journal = await run_graph(model, tool("f", double))

    assert output(journal, "a") == {"doubled": 8}
    assert [type(m) for m in model.seen[1][1:]] == [
        HumanMessage,
        AIMessage,
        ToolMessage,
    ]
    assert model.seen[1][-1].tool_call_id == "a"
    assert messages[-1].content == "8"


async def test_text_beside_a_call_is_kept_in_order() -> None:
    # PROV-40
    model = ScriptedModel(
        [*text("Let me check.")[:-1], call("f", id="a"), *text()], text("Done.")
    )

    messages, _ = await run_graph(model, tool("f", double))

    kinds = [(type(m).__name__, m.content) for m in messages]
    assert kinds[1] == ("AIMessage", "Let me check.")
    assert kinds[2][0] == "ToolMessage"
    assert kinds[3] == ("AIMessage", "Done.")


async def test_parallel_calls_are_kept_apart_by_id() -> None:
    # PROV-01: both are numbered 0.
    model = ScriptedModel(
        [call("f", '{"x":1}', id="a"), call("f", '{"x":2}', id="b"), *text()],
        text("ok"),
    )

    messages, journal = await run_graph(model, tool("f", double))

    assert output(journal, "a") == {"doubled": 2}
    assert output(journal, "b") == {"doubled": 4}
    results = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
    assert sorted(results) == ["a", "b"]


async def test_reads_of_one_step_run_at_once() -> None:
    barrier = asyncio.Barrier(2)

    async def meet(arguments: Wanted) -> str:
        # One after the other they would never meet.
        async with asyncio.timeout(10):
            await barrier.wait()
        return "met"

    model = ScriptedModel(
        [call("f", id="a"), call("f", id="b", index=1), *text()], text("ok")
    )

    _, journal = await run_graph(model, tool("f", meet))

    assert [output(journal, key) for key in "ab"] == ["met", "met"]


async def test_changes_of_one_step_run_in_the_written_order() -> None:
    order: list[str] = []

    async def change(arguments: Wanted) -> None:
        order.append(f"begin {arguments.x}")
        # The earlier, the longer: without turns they would overtake.
        for _ in range(10 - 3 * arguments.x):
            await asyncio.sleep(0)
        order.append(f"end {arguments.x}")

    model = ScriptedModel(
        [
            *(call("c", f'{{"x":{n}}}', id=f"c{n}", index=n) for n in range(3)),
            *text(),
        ],
        text("ok"),
    )

    await run_graph(model, tool("c", change, Effect.CHANGE))

    assert order == [f"{what} {n}" for n in range(3) for what in ("begin", "end")]


async def test_a_failed_change_does_not_hold_up_the_next() -> None:
    async def fail(arguments: Wanted) -> None:
        if arguments.x == 0:
            raise ToolFailed("No.")

    model = ScriptedModel(
        [call("c", '{"x":0}', id="a"), call("c", '{"x":1}', id="b", index=1), *text()],
        text("ok"),
    )

    _, journal = await run_graph(model, tool("c", fail, Effect.CHANGE))

    assert journal.results["a"].is_error
    assert not journal.results["b"].is_error


async def test_who_may_not_change_reads_only() -> None:
    ran: list[str] = []

    async def read(arguments: Wanted) -> None:
        ran.append("read")

    async def change(arguments: Wanted) -> None:
        ran.append("change")

    model = ScriptedModel(
        [call("r", id="a"), call("c", id="b", index=1), *text()], text("ok")
    )

    _, journal = await run_graph(
        model, tool("r", read), tool("c", change, Effect.CHANGE), may_change=False
    )

    assert ran == ["read"]
    assert journal.results["b"].is_error


async def test_an_unknown_tool_is_an_error_result() -> None:
    model = ScriptedModel([call("hack", id="a"), *text()], text("Sorry."))

    messages, journal = await run_graph(model, tool("f", double))

    assert journal.results["a"].is_error
    assert "f" in output(journal, "a")["error"]
    assert messages[-1].content == "Sorry."


@pytest.mark.parametrize("raw", ["not json", "[1]", '"x"', '{"x":'])
async def test_a_call_that_does_not_parse_is_not_run(raw: str) -> None:
    # PROV-09
    ran: list[Wanted] = []

    async def record(arguments: Wanted) -> None:
        ran.append(arguments)

    model = ScriptedModel([call("f", raw, id="a"), *text()], text("Again."))

    _, journal = await run_graph(model, tool("f", record))

    assert ran == []
    assert journal.results["a"].is_error
    assert ("complete", "a") not in journal.reports
    assert model.seen[1][-1].tool_call_id == "a"


async def test_arguments_that_do_not_fit_say_which() -> None:
    model = ScriptedModel([call("f", '{"y": 1}', id="a"), *text()], text("ok"))

    _, journal = await run_graph(model, tool("f", double))

    assert "y" in output(journal, "a")["error"]


async def test_a_tool_that_breaks_is_a_result_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def boom(arguments: Wanted) -> None:
        raise RuntimeError("/etc/secret/path")

    model = ScriptedModel([call("f", id="a"), *text()], text("ok"))

    messages, journal = await run_graph(model, tool("f", boom))

    assert journal.results["a"].is_error
    assert "/etc" not in journal.results["a"].output
    assert "Tool f failed" in caplog.text
    assert messages[-1].content == "ok"


async def test_a_tool_that_takes_too_long_is_cut_off() -> None:
    cancelled = asyncio.Event()

    async def hang(arguments: Wanted) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    model = ScriptedModel([call("f", id="a"), *text()], text("ok"))

    _, journal = await run_graph(model, tool("f", hang), tool_seconds=0.05)

    assert journal.results["a"].is_error
    assert cancelled.is_set()


async def test_a_long_result_is_cut_and_says_so() -> None:
    async def long(arguments: Wanted) -> str:
        return "x" * 5000

    model = ScriptedModel([call("f", id="a"), *text()], text("ok"))

    _, journal = await run_graph(model, tool("f", long), output_limit=100)

    result = journal.results["a"].output
    assert len(result) < 400
    assert "5002 characters" in result


async def test_a_stored_result_is_used_again() -> None:
    ran: list[Wanted] = []

    async def record(arguments: Wanted) -> None:
        ran.append(arguments)

    journal = MemoryJournal({"a": ToolResult('"from before"', is_error=False)})
    model = ScriptedModel([call("c", id="a"), *text()], text("ok"))

    messages, _ = await run_graph(
        model, tool("c", record, Effect.CHANGE), journal=journal
    )

    assert ran == []
    assert messages[-2].content == '"from before"'


async def test_a_run_begins_with_the_calls_that_are_open() -> None:
    journal = MemoryJournal()
    journal._raw["a"] = '{"x": 5}'
    before = [
        HumanMessage("Why?"),
        AIMessage(
            "",
            tool_calls=[
                {"id": "a", "name": "f", "args": {"x": 5}, "type": "tool_call"}
            ],
        ),
    ]
    model = ScriptedModel(text("ten"))

    _, journal = await run_graph(
        model, tool("f", double), journal=journal, messages=before
    )

    assert output(journal, "a") == {"doubled": 10}
    assert len(model.seen) == 1


async def test_the_last_step_has_no_tools_and_the_next_is_refused() -> None:
    model = ScriptedModel([call("f", id="a"), *text()])

    with pytest.raises(StepLimitReached):
        await run_graph(model, tool("f", double), step_limit=3)

    assert len(model.seen) == 3


async def test_an_answer_without_a_reason_is_cut_and_runs_nothing() -> None:
    journal = MemoryJournal()
    model = ScriptedModel([piece(id="a", name="f", args="{}")])

    with pytest.raises(ModelStreamCut):
        await run_graph(model, tool("f", double), journal=journal)

    assert journal.results == {}
    assert ("model_failed", ModelStreamCut.code) in journal.reports


async def test_a_call_without_any_id_can_be_answered() -> None:
    # PROV-04
    model = ScriptedModel([piece(name="f", args='{"x":3}'), *text()], text("6"))

    messages, journal = await run_graph(model, tool("f", double))

    (call_id,) = journal.results
    assert output(journal, call_id) == {"doubled": 6}
    assert [m.tool_call_id for m in messages if isinstance(m, ToolMessage)] == [call_id]


async def test_the_system_prompt_is_sent_and_not_kept() -> None:
    model = ScriptedModel(text("ok"))

    messages, _ = await run_graph(model)

    assert model.seen[0][0].content == "You are a copilot."
    assert messages[0].content == "Why?"
