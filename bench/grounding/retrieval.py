"""Search alone: are the documents that answer among the best five passages?"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.grounding.questions import Question

BEST = 5


@dataclass(frozen=True, slots=True)
class Retrieved:
    """`recall`: of the documents needed; `facts`: of the facts in their passages."""

    question: Question
    recall: float
    facts: float
    seconds: float


def retrieve(questions: Sequence[Question], *, by_meaning: bool) -> list[Retrieved]:
    from django.test import override_settings

    with override_settings(EMBEDDINGS="local" if by_meaning else "off"):
        return [_retrieve(one) for one in questions if one.is_answerable]


def _retrieve(question: Question) -> Retrieved:
    from chat.agent.grounded.followups import resolve
    from chat.knowledge.models import Collection
    from chat.knowledge.search import search

    text = resolve(question.text, question.asked_before).text
    readable = Collection.objects.filter(name__in=question.collections)
    start = time.perf_counter()
    hits = search(text, collections=readable, limit=BEST)
    seconds = time.perf_counter() - start
    needed = [h for h in hits if h.passage.document.name in question.documents]
    found = {hit.passage.document.name for hit in needed}
    said = "\n".join(
        "\n".join([*hit.passage.headings, hit.passage.text]) for hit in needed
    )
    return Retrieved(
        question,
        len(found) / len(question.documents),
        question.facts_in(said) / len(question.facts),
        seconds,
    )


def summary(results: Sequence[Retrieved]) -> dict[str, float]:
    return {
        "questions": len(results),
        "recall_at_5": round(statistics.mean(one.recall for one in results), 3),
        "facts_at_5": round(statistics.mean(one.facts for one in results), 3),
        "p50_ms": round(statistics.median(one.seconds for one in results) * 1000, 1),
    }
