import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from llmconfig.shortening import shorten
from llmconfig.tokens import estimate, estimate_messages, estimate_tools
from llmconfig.window import Window, fit

TOOL = {
    "type": "function",
    "function": {"name": "run_commands", "parameters": {"type": "object"}},
}


def call(call_id: str, **args: Any) -> dict[str, Any]:
    return {"name": "run_commands", "args": args, "id": call_id}


def a_round(number: int, *, size: int = 400) -> list[AnyMessage]:
    """A question, two parallel calls with their results, an answer."""
    ids = [f"c{number}a", f"c{number}b"]
    return [
        HumanMessage(f"Question {number}"),
        AIMessage("", tool_calls=[call(call_id) for call_id in ids]),
        *(ToolMessage("show ip " * size, tool_call_id=call_id) for call_id in ids),
        AIMessage(f"Answer {number}"),
    ]


def asked(rounds: int, *, size: int = 400) -> list[AnyMessage]:
    earlier = [a_round(number, size=size) for number in range(rounds)]
    return [
        SystemMessage("You are the copilot."),
        *itertools.chain.from_iterable(earlier),
        HumanMessage("And now?"),
    ]


# --- Whole rounds -------------------------------------------------------------------


def test_what_fits_is_sent_as_it_is() -> None:
    messages = asked(3)

    window = fit(messages, limit=100_000)

    assert window.messages == messages
    assert (window.dropped_rounds, window.shortened) == (0, 0)
    assert window.used == estimate_messages(messages)
    assert not window.overflow


def test_oldest_rounds_go_first_and_the_model_is_told() -> None:
    messages = asked(5)

    window = fit(messages, limit=4_000, strategy="aggressive")

    questions = [m.content for m in window.messages if isinstance(m, HumanMessage)]
    assert questions == ["Question 3", "Question 4", "And now?"]
    assert window.dropped_rounds == 3
    assert window.messages[0].content == (
        "[Earlier rounds that are left out: 3.]\nYou are the copilot."
    )
    assert messages[0].content == "You are the copilot."


@pytest.mark.parametrize(
    ("strategy", "share"),
    [("conservative", 0.60), ("balanced", 0.75), ("aggressive", 0.85)],
)
def test_budget_is_a_share_of_the_limit_less_tools_and_reserve(
    strategy: Any, share: float
) -> None:
    window = fit(
        asked(1), limit=10_000, strategy=strategy, tools=[TOOL, TOOL], reserve=500
    )

    assert window.budget == int(10_000 * share) - estimate_tools([TOOL, TOOL]) - 500
    assert window.limit == 10_000


def test_a_result_whose_call_is_not_before_it_is_left_out() -> None:
    messages = [
        HumanMessage("Why?"),
        ToolMessage("lost", tool_call_id="nowhere"),
        AIMessage("", tool_calls=[call("c1")]),
        ToolMessage("found", tool_call_id="c1"),
        ToolMessage("twice", tool_call_id="c1"),
    ]

    window = fit(messages, limit=10_000)

    assert [m.content for m in window.messages] == ["Why?", "", "found"]


@pytest.mark.parametrize(
    "messages",
    [[], [SystemMessage("Be brief.")], [HumanMessage("Hi"), AIMessage("Hello")]],
)
def test_the_model_is_asked_to_go_on_where_nobody_asks(
    messages: list[AnyMessage],
) -> None:
    window = fit(messages, limit=10_000)

    assert window.messages[:-1] == messages
    assert window.messages[-1] == HumanMessage("Go on.")


# --- A round that is too large ------------------------------------------------------


def test_oldest_results_of_the_current_round_lose_their_middles_first() -> None:
    messages = [
        SystemMessage("You are the copilot."),
        *a_round(0),
        HumanMessage("And now?"),
        AIMessage("", tool_calls=[call("old")]),
        ToolMessage("old line\n" * 1_000, tool_call_id="old"),
        AIMessage("", tool_calls=[call("new")]),
        ToolMessage("new line\n" * 400, tool_call_id="new"),
    ]

    window = fit(messages, limit=4_000)

    old, new = window.messages[3], window.messages[5]
    assert "characters are left out here; run the command again" in str(old.content)
    assert str(old.content).startswith("old line\n")
    assert str(old.content).endswith("old line")
    assert new == messages[-1]
    assert (window.dropped_rounds, window.shortened) == (1, 1)
    assert window.used <= window.budget


def test_parallel_results_are_cut_to_one_level_and_short_ones_stay() -> None:
    outputs = ["a line\n" * 5_000, "b line\n" * 3_000, "short"]
    ids = ["a", "b", "c"]
    messages = [
        HumanMessage("Why?"),
        AIMessage("", tool_calls=[call(call_id) for call_id in ids]),
        *(
            ToolMessage(output, tool_call_id=call_id)
            for output, call_id in zip(outputs, ids, strict=True)
        ),
    ]

    window = fit(messages, limit=8_000)

    first, second, third = (estimate(str(m.content)) for m in window.messages[2:])
    assert third == estimate("short")
    assert abs(first - second) < 0.2 * first
    assert 0.8 * window.budget < window.used <= window.budget


def test_a_shortened_json_result_is_still_json() -> None:
    output = "Interface line\n" * 3_000
    result = {"devices": [{"device": "R1", "commands": [{"output": output}]}]}
    messages = [
        HumanMessage("Why?"),
        AIMessage("", tool_calls=[call("c1")]),
        ToolMessage(json.dumps(result), tool_call_id="c1"),
    ]

    window = fit(messages, limit=4_000)

    shorter = json.loads(str(window.messages[-1].content))
    assert shorter["devices"][0]["device"] == "R1"
    assert "left out here" in shorter["devices"][0]["commands"][0]["output"]


def test_the_middle_of_a_long_question_goes_last() -> None:
    question = "Look at this:\n" + "interface Ethernet\n" * 5_000 + "Why?"
    messages = [SystemMessage("You are the copilot."), HumanMessage(question)]

    window = fit(messages, limit=4_000)

    text = str(window.messages[-1].content)
    assert text.startswith("Look at this:\n")
    assert text.endswith("Why?")
    assert "run the command again" not in text
    assert window.used <= window.budget


def test_oldest_steps_go_where_shortening_does_not_help() -> None:
    steps = [
        [
            AIMessage("", tool_calls=[call(f"c{i}", config="x y " * 200)]),
            ToolMessage("ok", tool_call_id=f"c{i}"),
        ]
        for i in range(20)
    ]
    messages = [
        SystemMessage("You are the copilot."),
        HumanMessage("Do it."),
        *itertools.chain.from_iterable(steps),
    ]

    window = fit(messages, limit=4_000)

    assert window.dropped_steps > 0
    assert window.messages[1] == messages[1]
    assert window.messages[-2:] == messages[-2:]
    assert f"left out: {window.dropped_steps}." in str(window.messages[0].content)


def test_a_system_prompt_beyond_the_budget_is_told() -> None:
    window = fit([SystemMessage("word " * 5_000), HumanMessage("Why?")], limit=4_000)

    assert window.overflow
    assert isinstance(window.messages[-1], HumanMessage)


# --- Whatever the conversation ------------------------------------------------------

WORDS = st.sampled_from(
    ["", "ok", "show ip route", "日本語の設定を見てください", "é ü", "10.0.0.1/24 "]
)
TEXTS = st.builds(
    lambda word, times, end: word * times + end,
    WORDS,
    st.sampled_from([1, 1, 20, 400]),
    st.sampled_from(["", "\n", '"}]}', "\\n"]),
)
JSON_TEXTS = TEXTS.map(lambda text: json.dumps({"output": text, "more": [text]}))


@st.composite
def conversations(draw: st.DrawFn) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    if draw(st.booleans()):
        messages.append(SystemMessage(draw(TEXTS)))
    for number in range(draw(st.integers(0, 5))):
        if draw(st.booleans()) or number == 0:
            messages.append(HumanMessage(draw(TEXTS)))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"call_{number}_{step}_{i}" for i in range(draw(st.integers(0, 3)))]
            messages.append(
                AIMessage(
                    draw(TEXTS), tool_calls=[call(i, text=draw(WORDS)) for i in ids]
                )
            )
            messages.extend(
                ToolMessage(draw(st.one_of(TEXTS, JSON_TEXTS)), tool_call_id=i)
                for i in draw(st.permutations(ids))
            )
        if draw(st.booleans()):
            messages.append(draw(st.sampled_from(STRAYS)))
    return messages


STRAYS: list[AnyMessage] = [
    ToolMessage("stray", tool_call_id="stray"),
    SystemMessage("Stopped by the user."),
    AIMessage("Done."),
    AIMessage("", tool_calls=[call("open")]),
]


def fitted(
    check: Callable[[list[AnyMessage], Window], None],
) -> Callable[[], None]:
    @settings(max_examples=60, deadline=None)
    @given(conversations(), st.integers(50, 6_000))
    def test(messages: list[AnyMessage], limit: int) -> None:
        check(messages, fit(messages, limit=limit))

    return test


def within_budget(messages: list[AnyMessage], window: Window) -> None:
    assert window.used == estimate_messages(window.messages)
    assert window.overflow == (window.used > window.budget)
    if window.overflow:
        prompt = [m for m in window.messages if isinstance(m, SystemMessage)][:1]
        # No room for as much as the note in place of a question, and its frame.
        assert estimate_messages(prompt) > window.budget - 40


def ends_with_a_question_or_a_result(
    messages: list[AnyMessage], window: Window
) -> None:
    assert isinstance(window.messages[-1], HumanMessage | ToolMessage)


def results_stand_behind_their_calls(
    messages: list[AnyMessage], window: Window
) -> None:
    given_results = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    open_ids: set[str | None] = set()
    for message in [*window.messages, HumanMessage("")]:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in open_ids
            open_ids.remove(message.tool_call_id)
        else:
            assert not open_ids & given_results
            open_ids = set()
            if isinstance(message, AIMessage):
                open_ids = {one["id"] for one in message.tool_calls}


def keeps_prompt_and_question(messages: list[AnyMessage], window: Window) -> None:
    prompts = [m for m in messages if isinstance(m, SystemMessage)]
    if prompts:
        assert isinstance(window.messages[0], SystemMessage)
        assert str(window.messages[0].content).endswith(str(prompts[0].content))
    questions = [i for i, m in enumerate(messages) if isinstance(m, HumanMessage)]
    if questions and not window.shortened and not window.dropped_steps:
        current = [
            m.content
            for m in messages[questions[-1] :]
            if not (isinstance(m, ToolMessage) and m.tool_call_id == "stray")
            and m not in prompts[:1]
        ]
        sent = [m.content for m in window.messages]
        if sent[-1] == "Go on.":
            sent.pop()
        assert sent[len(sent) - len(current) :] == current


def drops_only_what_it_must(messages: list[AnyMessage], window: Window) -> None:
    if estimate_messages(messages) + 10 <= window.budget:
        assert window.dropped_rounds == window.shortened == window.dropped_steps == 0


test_the_budget_is_kept_or_its_breach_told = fitted(within_budget)
test_the_end_is_a_question_or_a_result = fitted(ends_with_a_question_or_a_result)
test_no_result_without_call_nor_call_without_result = fitted(
    results_stand_behind_their_calls
)
test_prompt_and_current_round_stay = fitted(keeps_prompt_and_question)
test_nothing_is_dropped_without_need = fitted(drops_only_what_it_must)


@settings(max_examples=40, deadline=None)
@given(conversations(), st.integers(50, 6_000))
def test_it_is_deterministic_and_changes_no_message(
    messages: list[AnyMessage], limit: int
) -> None:
    before = [message.model_copy(deep=True) for message in messages]

    first, second = fit(messages, limit=limit), fit(messages, limit=limit)

    assert first == second
    assert messages == before
    assert not {id(m) for m in first.messages} & {id(m) for m in messages}


@settings(max_examples=60, deadline=None)
@given(st.one_of(TEXTS, JSON_TEXTS, st.text()), st.integers(0, 500))
def test_a_shortened_text_costs_no_more_than_asked(text: str, tokens: int) -> None:
    assert estimate(shorten(text, tokens)) <= tokens
