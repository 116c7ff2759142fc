"""Who goes on where a model cannot, and who is left to say what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage

from llmconfig.chain import Candidate, Chain
from llmconfig.errors import (
    ModelBadAnswer,
    ModelError,
    ModelKeyRefused,
    ModelNotFound,
    ModelOverflow,
    ModelQuotaUsedUp,
    ModelRateLimited,
    ModelRedirected,
    ModelStreamCut,
    ModelUnreachable,
    ModelWithoutTools,
)
from llmconfig.fallback import FallbackModel
from llmconfig.streaming import ask
from llmconfig.window import Window, fit, unlimited
from tests.fakes.journal import MemoryJournal
from tests.fakes.models import ScriptedModel, text

QUESTION: list[AnyMessage] = [SystemMessage("Be brief."), HumanMessage("Why?")]
TOOL = {
    "type": "function",
    "function": {"name": "ping", "description": "Pings.", "parameters": {}},
}


def candidate(name: str, *answers: Any, **fields: Any) -> Candidate:
    model = ScriptedModel(*answers)
    return Candidate(name, lambda: model, fields.pop("fit", unlimited), **fields)


def seen(one: Candidate) -> list[list[Any]]:
    model = one.model
    assert isinstance(model, ScriptedModel)
    return model.seen


async def said(model: FallbackModel, tools: Any = ()) -> str:
    return "".join([delta.text async for delta in ask(model, QUESTION, tools)])


@pytest.mark.parametrize(
    "error",
    [
        ModelUnreachable(),
        ModelRateLimited(120),
        ModelQuotaUsedUp(),
        ModelStreamCut(),
        ConnectionError(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_the_next_goes_on_where_one_is_down_or_used_up(error: Exception) -> None:
    journal = MemoryJournal()
    chain = Chain([candidate("a", [error]), candidate("b", text("Fine."))])
    model = FallbackModel(chain, journal)

    assert await said(model) == "Fine."

    [(kind, (place, code))] = journal.reports
    assert (kind, place) == ("fell_back", 1)
    assert code.startswith("model_")


@pytest.mark.parametrize(
    "error",
    [ModelKeyRefused(), ModelNotFound(), ModelBadAnswer(), ModelRedirected()],
    ids=lambda error: type(error).__name__,
)
async def test_one_that_is_set_up_wrongly_says_so(error: ModelError) -> None:
    chain = Chain([candidate("a", [error]), candidate("b", text("Fine."))])

    with pytest.raises(type(error)):
        await said(FallbackModel(chain))


async def test_nobody_takes_over_an_answer_that_was_begun() -> None:
    begun = [*text("Half", reason="")[:1], ModelStreamCut()]
    chain = Chain([candidate("a", begun), candidate("b", text("Fine."))])

    with pytest.raises(ModelStreamCut):
        await said(FallbackModel(chain))

    assert seen(chain.candidates[1]) == []


async def test_a_bug_is_no_reason_to_ask_another() -> None:
    chain = Chain([candidate("a", [ZeroDivisionError()]), candidate("b", text("No"))])

    with pytest.raises(ZeroDivisionError):
        await said(FallbackModel(chain))


async def test_the_last_error_is_told_when_all_are_down() -> None:
    rows = [candidate("a", [ModelUnreachable()]), candidate("b", [ModelRateLimited(9)])]

    with pytest.raises(ModelRateLimited):
        await said(FallbackModel(Chain(rows)))


async def test_the_next_step_stays_with_the_one_that_answered() -> None:
    rows = [candidate("a", [ModelUnreachable()]), candidate("b", text("Fine."))]
    model = FallbackModel(Chain(rows))

    await said(model)
    await said(model)

    assert [len(seen(row)) for row in rows] == [1, 2]


def limited(tokens: int) -> Callable[..., Window]:
    def fitted(messages: Any, tools: Any, share: float = 1.0) -> Window:
        limit = int(tokens * share)
        return fit(messages, limit=limit, strategy="balanced", tools=tools)

    return fitted


async def test_a_larger_one_goes_on_where_the_conversation_is_too_long() -> None:
    too_long = [ModelOverflow()]
    rows = [
        candidate("a", too_long, fit=limited(8000), context_limit=8),
        candidate("smaller", text("No."), fit=limited(4000), context_limit=4),
        candidate("larger", text("Fine."), fit=limited(32000), context_limit=32),
    ]

    assert await said(FallbackModel(Chain(rows))) == "Fine."
    assert seen(rows[1]) == []


async def test_without_a_larger_one_half_of_it_is_asked() -> None:
    rows = [
        candidate(
            "a", [ModelOverflow()], text("Fine."), fit=limited(8000), context_limit=8
        ),
        candidate("smaller", text("No."), fit=limited(4000), context_limit=4),
    ]

    assert await said(FallbackModel(Chain(rows))) == "Fine."
    assert len(seen(rows[0])) == 2


async def test_one_that_turns_out_to_call_no_functions_gives_way_to_one_that_does() -> (
    None
):
    journal = MemoryJournal()
    rows = [
        candidate("a", [ModelWithoutTools()]),
        candidate("known not to", text("No."), calls_tools=False),
        candidate("b", text("Fine.")),
    ]

    assert await said(FallbackModel(Chain(rows), journal), [TOOL]) == "Fine."
    assert ("fell_back", (2, "model_without_tools")) in journal.reports


async def test_the_only_one_gets_its_tools_by_prompt_and_the_person_is_told() -> None:
    journal = MemoryJournal()
    row = candidate("a", [ModelWithoutTools()], text("Fine."), prompts_tools=True)

    assert await said(FallbackModel(Chain([row]), journal), [TOOL]) == "Fine."

    assert journal.reports == [("cannot_call", (0, True))]
    assert "- ping: Pings." in seen(row)[1][0].content


async def test_tools_by_prompt_can_be_switched_off() -> None:
    journal = MemoryJournal()
    row = candidate("a", text("Fine."), calls_tools=False)

    assert await said(FallbackModel(Chain([row]), journal), [TOOL]) == "Fine."

    assert journal.reports == [("cannot_call", (0, False))]
    assert "You have no tools" in seen(row)[0][0].content
    assert "ping" not in seen(row)[0][0].content


async def test_a_person_is_told_once_a_run() -> None:
    journal = MemoryJournal()
    row = candidate("a", text("Fine."), calls_tools=False)
    model = FallbackModel(Chain([row]), journal)

    await said(model, [TOOL])
    await said(model, [TOOL])

    assert len(journal.reports) == 1


async def test_what_stayed_on_site_is_masked_before_it_goes_to_one_outside() -> None:
    outside = candidate(
        "b", text("Fine."), masked=lambda text: text.replace("hunter2", "••••")
    )
    chain = Chain([candidate("a", [ModelUnreachable()]), outside])
    messages: list[AnyMessage] = [
        *QUESTION,
        ToolMessage("enable secret hunter2", tool_call_id="1"),
    ]

    async for _ in ask(FallbackModel(chain), messages):
        pass

    assert "hunter2" in str(seen(chain.candidates[0]))
    assert "hunter2" not in str(seen(outside))
