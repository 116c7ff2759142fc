"""Makes index and vectors anew: after another model, or pgvector, has come."""

from django.db import connection
from django.db.models import Exists, OuterRef

from chat.documents.jobs import Job, JobQuerySet
from chat.documents.wake import wake
from chat.knowledge import search_index, vectors
from chat.knowledge.embed import embedder
from chat.knowledge.ingest import INGEST
from chat.knowledge.models import Document, Passage


def reindex(*, everything: bool = False) -> int:
    """How many documents the workers will read again; they stay found meanwhile."""
    with connection.schema_editor() as editor:
        search_index.install(None, editor)
    search_index.forget()
    vectors.fill_pgvector()
    finished = Document.objects.filter(state__in=[Job.State.READY, Job.State.FAILED])
    rows = finished if everything else finished & _of_another_model()
    count = rows.update(state=Job.State.UPLOADED, tries=0, error="", error_code="")
    wake(INGEST)
    return int(count)


def _of_another_model() -> JobQuerySet:
    """Whose vectors the model of today can't compare; those that failed with it."""
    model = embedder()
    if model is None:
        return Document.objects.none()
    others = Passage.objects.filter(document=OuterRef("pk")).exclude(
        embedded_by=model.name
    )
    failed = Document.objects.filter(error_code="embeddings_unavailable")
    return Document.objects.filter(Exists(others)) | failed
