"""A passage where it stands: the text around it, and its neighbours."""

from dataclasses import dataclass

from django.db.models import Value
from django.db.models.functions import Substr

from chat.documents.models import FileText
from chat.knowledge.models import Passage

_AROUND = 1_500


@dataclass(frozen=True, slots=True)
class Around:
    before: str
    after: str
    # As citations name them.
    previous: str | None
    next: str | None


def in_context(passage: Passage) -> Around:
    begin = max(0, passage.start - _AROUND)
    # Cut by the database: a whole document may be long. It counts from 1.
    texts = (
        FileText.objects.filter(file=passage.document.file_id)
        .annotate(
            before=Substr("text", Value(begin + 1), Value(passage.start - begin)),
            after=Substr("text", Value(passage.end + 1), Value(_AROUND)),
        )
        .values_list("before", "after")
    )
    before, after = texts.first() or ("", "")
    neighbours = dict(
        Passage.objects.filter(
            document=passage.document_id,
            position__in=[passage.position - 1, passage.position + 1],
        ).values_list("position", "uid")
    )

    def named(position: int) -> str | None:
        uid = neighbours.get(position)
        return f"passage:{uid}" if uid else None

    return Around(
        before, after, named(passage.position - 1), named(passage.position + 1)
    )
