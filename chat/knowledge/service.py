"""The knowledge that a run's tools search: what its person may read."""

import uuid
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import Q

from chat.agent.tools.kit import Passage as Found
from chat.knowledge.models import Collection
from chat.knowledge.models.collection import CollectionQuerySet
from chat.knowledge.search import Hit, search
from copilot_site.lib.orm import in_orm_thread
from projects.models import Project


class CollectionSearch:
    """The port `Knowledge`, over these collections."""

    def __init__(self, collections: CollectionQuerySet) -> None:
        self._collections = collections

    async def search(self, query: str, *, limit: int = 8) -> list[Found]:
        hits = await in_orm_thread(search)(
            query, collections=self._collections, limit=limit
        )
        return [as_found(hit) for hit in hits]


def knowledge_for(
    user: User,
    project: Project | None,
    *,
    collections: Sequence[str] | None = None,
) -> CollectionSearch:
    """Of all that the person may read, or of those named by id or name.

    Whoever calls it has checked the person's role in the project. Reads nothing yet;
    each search asks anew what may be read.
    """
    readable = Collection.objects.readable_by(user, project=project)
    if collections is not None:
        readable = named(readable, collections)
    return CollectionSearch(readable)


def named(readable: CollectionQuerySet, names: Sequence[str]) -> CollectionQuerySet:
    """By name or id; what is not among them finds nothing."""
    keys = []
    for name in names:
        try:
            keys.append(uuid.UUID(name))
        except ValueError:
            continue
    return readable.filter(Q(name__in=list(names)) | Q(pk__in=keys))


def as_found(hit: Hit) -> Found:
    passage = hit.passage
    return Found(
        id=passage.citation_id,
        kind="document",
        title=passage.document.name,
        text=passage.text,
        location=passage.location,
        url=f"knowledge/?passage={passage.uid}",
        time=passage.document.updated_at.isoformat(),
        score=round(hit.score, 4),
        similarity=round(hit.similarity or 0.0, 4),
        coverage=round(hit.coverage, 4),
    )
