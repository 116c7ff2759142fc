"""Every case file, asked through HTTP."""

import time
from pathlib import Path

import pytest

from chat.agent.translate import Answer
from tests.providers.asking import as_text, followed_up, put
from tests.providers.case import FOLDER, Case, load
from tests.providers.conftest import KEY, MakeModel
from tests.providers.replay import Replay, says

FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_case_comes_out_as_its_file_says(
    path: Path, replay: Replay, make_model: MakeModel
) -> None:
    case = load(path)
    replay.script(*case.answers)
    model = make_model(**case.model)
    started = time.monotonic()

    outcome = await put(model)

    waited = time.monotonic() - started
    answer, expect = outcome.answer, case.expect
    error = outcome.error
    assert (error.code if error else None) == expect.get("error"), str(error)
    if "text" in expect:
        assert answer.text == expect["text"] == outcome.told
    if "length" in expect:
        assert len(answer.text) == expect["length"]
    if "reasoning" in expect:
        assert answer.reasoning == expect["reasoning"]
    if "calls" in expect:
        assert outcome.calls() == [tuple(call) for call in expect["calls"]]
    if "reason" in expect:
        assert answer.finish_reason == expect["reason"]
    if "usage" in expect:
        usage = answer.usage
        assert [usage.input_tokens, usage.output_tokens] == expect["usage"]
    if "unparsed_call" in expect:
        assert answer.has_unparsed_call == expect["unparsed_call"]
    if "says" in expect:
        assert expect["says"] in str(error)
    if "requests" in expect:
        assert len(replay.bodies) == expect["requests"]
    if "statuses" in expect:
        assert len(outcome.statuses) == expect["statuses"], outcome.statuses
    assert waited >= expect.get("waits", 0)
    assert outcome.nameless_pieces == 0
    assert KEY not in f"{error} {outcome.statuses}"
    ids = [call.id for call in answer.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    if error is None:
        await _next_request_is_accepted(case, replay, make_model, outcome.answer)


async def _next_request_is_accepted(
    case: Case, replay: Replay, make_model: MakeModel, answer: Answer
) -> None:
    demands = case.answers[-1].demands
    replay.script(says("Fine.", demands=demands))

    outcome = await put(make_model(**case.model), followed_up(answer))

    assert outcome.error is None, replay.faults
    assert outcome.answer.text == "Fine."
    for piece in case.next_request_holds:
        assert piece in as_text(replay.bodies[-1])


def test_every_report_of_a_provider_has_a_case() -> None:
    named = " ".join(load(path).report for path in FILES)

    missing = [
        report
        for report in (1, 4, 5, 6, 8, 9, 12, 14, 16, 18, 20, 21, 23, 24, 25, 27, 30)
        + (31, 32, 33, 35, 37, 39, 40)
        if f"PROV-{report:02}" not in named
    ]

    assert missing == []


def test_case_files_are_whole() -> None:
    for path in FILES:
        case: Case = load(path)
        assert case.title, path
        assert case.provider, path
