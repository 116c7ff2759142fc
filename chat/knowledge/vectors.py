"""Which passages mean what a question means: exact, over all that may be read.

PostgreSQL compares by itself where it has pgvector. Else the vectors of a collection
are kept in memory, for one version of it.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction

from chat.knowledge.models import Collection, Passage
from chat.knowledge.models.collection import CollectionQuerySet
from chat.knowledge.search_index import has_pgvector

if TYPE_CHECKING:
    from chat.knowledge.embed import Vectors

_NUMBER_BYTES = 4
# Of this process; about 170,000 passages of the local model.
_KEPT_BYTES = 256 * 2**20
# A collection's name in memory: its key, its version, whose vectors, how long these.
_Key = tuple[str, int, str, int]


@dataclass(frozen=True, slots=True)
class _Matrix:
    passages: Sequence[int]
    vectors: "Vectors"


_kept: OrderedDict[_Key, _Matrix] = OrderedDict()
_lock = threading.Lock()


def nearest(
    vector: "Vectors", *, collections: CollectionQuerySet, model: str, limit: int
) -> list[tuple[int, float]]:
    """Passages with their cosine, best first."""
    if connection.vendor == "postgresql" and has_pgvector(connection):
        return _by_database(vector, collections, model, limit)
    return _by_numpy(vector, collections, model, limit)


def as_bytes(vector: "Vectors") -> bytes:
    return vector.astype("<f4").tobytes()


def fill_pgvector(passages: Iterable[int] | None = None) -> None:
    """Copy vectors into PostgreSQL's own type; of all that lack it by default."""
    if connection.vendor != "postgresql" or not has_pgvector(connection):
        return
    rows = Passage.objects.exclude(vector=None).extra(where=["embedding IS NULL"])
    if passages is not None:
        rows = rows.filter(pk__in=list(passages))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE knowledge_passage SET embedding = %s::vector WHERE id = %s",
            [
                (_as_text(_from_bytes(vector or b"")), pk)
                for pk, vector in rows.values_list("pk", "vector").iterator()
            ],
        )


def _by_database(
    vector: "Vectors", collections: CollectionQuerySet, model: str, limit: int
) -> list[tuple[int, float]]:
    allowed, values = collections.as_subquery()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.id, 1 - (p.embedding <=> %s::vector) FROM knowledge_passage p "
            "JOIN knowledge_document d ON d.id = p.document_id "
            "WHERE p.embedded_by = %s AND vector_dims(p.embedding) = %s "
            f"AND d.collection_id IN ({allowed}) "
            "ORDER BY p.embedding <=> %s::vector, p.id LIMIT %s",
            [
                *(_as_text(vector), model, len(vector)),
                *values,
                *(_as_text(vector), limit),
            ],
        )
        return [(pk, float(cosine)) for pk, cosine in cursor.fetchall()]


def _by_numpy(
    vector: "Vectors", collections: CollectionQuerySet, model: str, limit: int
) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    # The database says each time whose these are.
    for pk, version in collections.order_by().values_list("pk", "version"):
        matrix = _matrix((str(pk), version, model, len(vector)))
        if len(matrix.passages):
            cosines = matrix.vectors @ vector
            best = cosines.argsort()[::-1][:limit]
            found += [(matrix.passages[at], float(cosines[at])) for at in best]
    return sorted(found, key=lambda item: (-item[1], item[0]))[:limit]


def _matrix(key: _Key) -> _Matrix:
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    matrix = _load(key)
    with _lock:
        for old in [one for one in _kept if one[0] == key[0] and one[1] < key[1]]:
            del _kept[old]
        _kept[key] = matrix
        while len(_kept) > 1 and _bytes() > _KEPT_BYTES:
            _kept.popitem(last=False)
    return matrix


def _bytes() -> int:
    return sum(matrix.vectors.nbytes for matrix in _kept.values())


def _load(key: _Key) -> _Matrix:
    import numpy as np

    collection, _, model, length = key
    rows = Passage.objects.filter(
        document__collection_id=collection, embedded_by=model
    ).exclude(vector=None)
    pairs = [
        (pk, raw)
        for pk, raw in rows.order_by("pk").values_list("pk", "vector")
        # An endpoint may serve another model under the old name.
        if len(raw or b"") == length * _NUMBER_BYTES
    ]
    if not pairs:
        return _Matrix([], np.zeros((0, 0), dtype=np.float32))
    return _Matrix(
        [pk for pk, _ in pairs], np.stack([_from_bytes(raw or b"") for _, raw in pairs])
    )


def _from_bytes(raw: bytes | memoryview) -> "Vectors":
    import numpy as np

    return np.frombuffer(bytes(raw), dtype="<f4")


def _as_text(vector: "Vectors") -> str:
    return "[" + ",".join(f"{number:.7g}" for number in vector.tolist()) + "]"


def forget(collection: Collection) -> None:
    """Out of memory; another process finds out by the version."""
    with _lock:
        for key in [one for one in _kept if one[0] == str(collection.pk)]:
            del _kept[key]
