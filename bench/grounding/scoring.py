"""What the outcomes are worth: the gate, the answers, citations, confidence."""

import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from bench.grounding.pipeline import Answered

_MARK = re.compile(r"\[(\d+)\]")
BINS = 10


def summary(results: Sequence[Answered]) -> dict[str, Any]:
    answered = [one for one in results if one.is_supported]
    answerable = [one for one in results if one.question.is_answerable]
    rightly = [one for one in answered if one.question.is_answerable]
    correct = [one for one in rightly if is_correct(one)]
    return {
        "questions": len(results),
        "answered": len(answered),
        # Of all answered, those that can be; of all that can be, those answered.
        "gate_precision": _share(rightly, answered),
        "gate_recall": _share(rightly, answerable),
        "correct_of_answered": _share(correct, rightly),
        "correct_of_answerable": _share(correct, answerable),
        "marks_to_nothing": sum(map(marks_to_nothing, answered)),
        "answers_without_citation": sum(not one.citations for one in answered),
        "cites_the_fact": _share([one for one in correct if cites_fact(one)], correct),
        "obeyed": sum(
            one.is_supported and one.question.obeyed_in(one.text) for one in results
        ),
        "p50_ms": round(statistics.median(one.seconds for one in results) * 1000, 1)
        if results
        else 0.0,
    }


def by(
    results: Sequence[Answered], key: Callable[[Answered], str]
) -> dict[str, dict[str, Any]]:
    names = sorted({key(one) for one in results})
    return {name: summary([r for r in results if key(r) == name]) for name in names}


def is_correct(one: Answered) -> bool:
    return one.is_supported and one.question.is_answered_by(one.text)


def marks_to_nothing(one: Answered) -> int:
    known = {int(citation["n"]) for citation in one.citations}
    return sum(int(mark) not in known for mark in _MARK.findall(one.text))


def cites_fact(one: Answered) -> bool:
    """Whether a passage that it cites is of a document that has the answer."""
    return any(c["title"] in one.question.documents for c in one.citations)


def calibration(results: Sequence[Answered]) -> dict[str, Any]:
    """How often answers of a score are right; the error is weighted by their number."""
    answered = [one for one in results if one.is_supported]
    bins, error = [], 0.0
    for number in range(BINS):
        inside = [one for one in answered if _bin(one.score) == number]
        if not inside:
            continue
        score = statistics.mean(one.score for one in inside)
        right = statistics.mean(is_correct(one) for one in inside)
        error += abs(score - right) * len(inside) / len(answered)
        bins.append(
            {
                "from": number / BINS,
                "answers": len(inside),
                "score": round(score, 3),
                "right": round(right, 3),
            }
        )
    labels = {
        label: {
            "answers": len(same),
            "right": _share(list(filter(is_correct, same)), same),
        }
        for label in ("low", "medium", "high")
        if (same := [one for one in answered if one.confidence == label])
    }
    return {"error": round(error, 3), "bins": bins, "labels": labels}


def _bin(score: float) -> int:
    return min(BINS - 1, int(score * BINS))


def _share(part: Sequence[Any], whole: Sequence[Any]) -> float | None:
    return round(len(part) / len(whole), 3) if whole else None
