"""Hybrid search: by words and by meaning, the two orders fused.

Which collections are searched is part of each query: nothing else is ever read.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection

from chat.knowledge import vectors
from chat.knowledge.embed import EmbeddingsUnavailable, embedder
from chat.knowledge.models import Passage
from chat.knowledge.models.collection import CollectionQuerySet
from chat.knowledge.search_index import POSTGRES_VECTOR
from chat.knowledge.terms import question_terms

logger = logging.getLogger(__name__)

_CANDIDATES = 50
# As usual for reciprocal rank fusion: the first places count, but not alone.
_FUSION = 60
_QUESTION_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage, with why it was found."""

    passage: Passage
    # 1.0: the first in every order there is.
    score: float
    # Of the question's terms, the share that the passage has.
    coverage: float
    # Cosine; None without embeddings.
    similarity: float | None


def search(
    question: str, *, collections: CollectionQuerySet, limit: int = 8
) -> list[Hit]:
    """The best passages of these collections, best first."""
    # Models may write half a sign, which neither database nor endpoint takes.
    question = question[:_QUESTION_LENGTH].encode("utf-8", "replace").decode()
    question = question.replace("\0", " ").strip()
    if not question:
        return []
    terms = question_terms(question)
    by_words = _by_words(terms, collections) if terms else []
    by_meaning = _by_meaning(question, collections)
    orders = [by_words] if by_meaning is None else [by_words, list(by_meaning)]
    scores = fused(orders)
    best = sorted(scores, key=lambda pk: (-scores[pk], pk))[:limit]
    rows = _rows(best, collections)
    return [
        Hit(
            rows[pk],
            scores[pk],
            _coverage(terms, rows[pk]),
            None if by_meaning is None else by_meaning.get(pk, 0.0),
        )
        for pk in best
        # Deleted meanwhile.
        if pk in rows
    ]


def fused(orders: Sequence[Sequence[int]]) -> dict[int, float]:
    """Reciprocal ranks added up; 1.0 for the first of all orders."""
    scores: dict[int, float] = {}
    share = (_FUSION + 1) / max(1, len(orders))
    for order in orders:
        for rank, pk in enumerate(order, start=1):
            scores[pk] = scores.get(pk, 0.0) + share / (_FUSION + rank)
    return scores


def _by_meaning(
    question: str, collections: CollectionQuerySet
) -> Mapping[int, float] | None:
    """In order; None: no embeddings, or they do not answer."""
    model = embedder()
    if model is None:
        return None
    try:
        vector = model.question(question)
    except EmbeddingsUnavailable as error:
        logger.warning("Search goes by words alone: %s", error)
        return None
    return dict(
        vectors.nearest(
            vector, collections=collections, model=model.name, limit=_CANDIDATES
        )
    )


def _by_words(terms: Sequence[str], collections: CollectionQuerySet) -> list[int]:
    allowed, values = collections.as_subquery()
    if connection.vendor == "sqlite":
        query, arguments = _SQLITE.format(allowed=allowed), [_fts5(terms)]
    else:
        query, arguments = _POSTGRES.format(allowed=allowed), []
        values = (list(terms), *values)
    with connection.cursor() as cursor:
        cursor.execute(query, [*arguments, *values, _CANDIDATES])
        return [row[0] for row in cursor.fetchall()]


def _fts5(terms: Sequence[str]) -> str:
    # A quoted string is a phrase; nothing in it has a meaning of its own.
    return " OR ".join('"{}"'.format(term.replace('"', '""')) for term in terms)


_SQLITE = (
    "SELECT p.id FROM knowledge_search "
    "JOIN knowledge_passage p ON p.id = knowledge_search.rowid "
    "JOIN knowledge_document d ON d.id = p.document_id "
    "WHERE knowledge_search MATCH %s AND d.collection_id IN ({allowed}) "
    "ORDER BY bm25(knowledge_search), p.id LIMIT %s"
)
# PostgreSQL's own rank takes a rare word for no more than a common one: each counts by
# how few of the passages searched have it, and a bit by how often.
_POSTGRES = (
    "WITH asked AS (SELECT DISTINCT plainto_tsquery('simple', word) AS term "
    "FROM unnest(%s::text[]) AS word), "
    "found AS MATERIALIZED (SELECT p.id, asked.term, "
    f"ts_rank({POSTGRES_VECTOR}, asked.term, 1) AS often "
    "FROM asked CROSS JOIN knowledge_passage p "
    "JOIN knowledge_document d ON d.id = p.document_id "
    f"WHERE {POSTGRES_VECTOR} @@ asked.term AND d.collection_id IN ({{allowed}})), "
    "weights AS (SELECT term, ln(1 + 1000.0 / count(*)) AS weight "
    "FROM found GROUP BY term) "
    "SELECT found.id FROM found JOIN weights USING (term) "
    "GROUP BY found.id "
    "ORDER BY sum(weight * (1 + 10 * often)) DESC, found.id LIMIT %s"
)


def _rows(keys: Sequence[int], collections: CollectionQuerySet) -> dict[int, Passage]:
    # Once more with the collections: what memory says is not enough.
    rows = (
        Passage.objects.filter(
            pk__in=keys, document__collection__in=collections.order_by().values("pk")
        )
        .select_related("document__collection")
        .defer("vector")
    )
    return {row.pk: row for row in rows}


def _coverage(terms: Sequence[str], passage: Passage) -> float:
    has = set(passage.terms.split())
    return sum(term in has for term in terms) / len(terms) if terms else 0.0
