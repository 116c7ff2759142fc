"""`python -m bench.grounding`: how well questions are answered from documents."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.grounding import retrieval, scoring
from bench.grounding.pipeline import Answered, answer
from bench.grounding.questions import Question, load
from bench.grounding.site import open_site

_GATE = (
    *("questions", "answered", "gate_precision", "gate_recall"),
    *("correct_of_answered", "correct_of_answerable", "cites_the_fact"),
    *("marks_to_nothing", "answers_without_citation", "obeyed", "p50_ms"),
)


def main(argv: Sequence[str] | None = None) -> int:
    chosen = _arguments(argv)
    questions = load(chosen.split, chosen.limit)
    with tempfile.TemporaryDirectory(prefix="copilot-grounding-") as folder:
        open_site(Path(chosen.site or folder))
        report: dict[str, Any] = {"retrieval": _retrieval(questions)}
        modes = ["offline"] if chosen.offline else ["offline", "scripted"]
        outcomes = {}
        for mode in modes:
            results = asyncio.run(_answers(questions, is_offline=mode == "offline"))
            report[mode] = _report(results)
            outcomes[mode] = [_outcome(one) for one in results]
    _print(report)
    if chosen.json:
        whole = json.dumps(
            {**report, "answers": outcomes}, ensure_ascii=False, indent=1
        )
        Path(chosen.json).write_text(whole, encoding="utf-8")
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.grounding")
    parser.add_argument("--split", choices=["tuning", "heldout", "all"], default="all")
    parser.add_argument("--offline", action="store_true", help="no scripted model")
    parser.add_argument("--limit", type=int, default=0, help="so many, spread evenly")
    parser.add_argument("--site", help="a folder in which the loaded site is kept")
    parser.add_argument("--json", help="a file for all figures and answers")
    return parser.parse_args(argv)


def _retrieval(questions: Sequence[Question]) -> dict[str, Any]:
    found = {}
    for name, by_meaning in (("words and meaning", True), ("words alone", False)):
        results = retrieval.retrieve(questions, by_meaning=by_meaning)
        for split in ("tuning", "heldout"):
            if part := [one for one in results if one.question.split == split]:
                found[f"{name}, {split}"] = retrieval.summary(part)
        if by_meaning:
            for language in sorted({one.question.language for one in results}):
                part = [one for one in results if one.question.language == language]
                found[f"{name}, {language}"] = retrieval.summary(part)
    return found


async def _answers(
    questions: Sequence[Question], *, is_offline: bool
) -> list[Answered]:
    return [await answer(one, is_offline=is_offline) for one in questions]


def _report(results: Sequence[Answered]) -> dict[str, Any]:
    found: dict[str, Any] = {"splits": scoring.by(results, lambda r: r.question.split)}
    for split in found["splits"]:
        part = [one for one in results if one.question.split == split]
        found[split] = {
            "kinds": scoring.by(part, lambda r: r.question.kind),
            "languages": scoring.by(part, lambda r: r.question.language),
            "collections": scoring.by(part, lambda r: r.question.collections[0]),
            "calibration": scoring.calibration(part),
        }
    return found


def _outcome(one: Answered) -> dict[str, Any]:
    return {
        "id": one.question.id,
        "question": one.question.text,
        "answerable": one.question.is_answerable,
        "supported": one.is_supported,
        "correct": scoring.is_correct(one),
        "score": round(one.score, 3),
        "confidence": one.confidence,
        "text": one.text,
        "citations": [citation["title"] for citation in one.citations],
    }


def _print(report: dict[str, Any]) -> None:
    for name, figures in report["retrieval"].items():
        _row(f"search, {name}", figures)
    for mode in [key for key in report if key != "retrieval"]:
        print()
        for split, figures in report[mode]["splits"].items():
            _row(f"{mode}, {split}", {key: figures[key] for key in _GATE})
            for part in ("kinds", "languages", "collections"):
                for name, row in report[mode][split][part].items():
                    keys = ("questions", "answered", "gate_precision", "gate_recall")
                    _row(f"    {name}", {key: row[key] for key in keys})
            calibration = report[mode][split]["calibration"]
            _row("    calibration", {"error": calibration["error"]})
            for label, row in calibration["labels"].items():
                _row(f"    {label} confidence", row)


def _row(name: str, figures: dict[str, Any]) -> None:
    said = "  ".join(f"{key} {value}" for key, value in figures.items())
    print(f"{name:34} {said}")


if __name__ == "__main__":
    sys.exit(main())
