"""A file → a document of a collection, with passages that are found and cited."""

from collections import Counter
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from chat.documents import store
from chat.documents.errors import (
    DocumentKindUnknown,
    DocumentUnreadable,
    TooManyDocuments,
)
from chat.documents.extract import read
from chat.documents.jobs import Job, JobLost, run_now
from chat.documents.kinds import Kind
from chat.documents.models import FileText
from chat.documents.names import safe_name
from chat.documents.wake import wake
from chat.knowledge import vectors
from chat.knowledge.embed import embedder
from chat.knowledge.models import Collection, Document, Passage
from chat.knowledge.models.passage import uid_of
from chat.knowledge.split import split
from chat.knowledge.terms import terms_of
from copilot_site.lib.errors import Conflict

INGEST = "chat.knowledge.tasks.ingest_documents"
_EMBEDDED_AT_ONCE = 8


class DocumentExists(Conflict):
    code = "document_exists"


def upload(
    collection: Collection, name: str, data: bytes, *, user: User | None = None
) -> tuple[Document, bool]:
    """Store it and let a worker read it; False: the content was there before.

    Raises DocumentRefused, TooManyDocuments.
    """
    name, kind = safe_name(name), _kind(name, data)
    with transaction.atomic():
        file = store.keep(data, kind)
        known = collection.documents.filter(file=file).first()
        if known is not None:
            if known.state == Job.State.FAILED:
                _begin_again(known)
            return known, False
        limit = settings.COLLECTION_DOCUMENTS
        if collection.documents.count() >= limit:
            raise TooManyDocuments(
                gettext("A collection has at most %(count)d documents.")
                % {"count": limit}
            )
        document = Document.objects.create(
            collection=collection, file=file, name=name, uploaded_by=user
        )
        wake(INGEST)
    return document, True


def replace(
    document: Document, name: str, data: bytes, *, user: User | None = None
) -> Document:
    """A new version: nothing of the old one is found from now on.

    Raises DocumentRefused, DocumentExists (another document has this content).
    """
    name, kind = safe_name(name), _kind(name, data)
    with transaction.atomic():
        file = store.keep(data, kind)
        before = document.file_id
        if file.pk == before:
            if document.state == Job.State.FAILED:
                _begin_again(document)
            return document
        others = document.collection.documents.filter(file=file)
        if others.exists():
            raise DocumentExists(
                gettext("Another document of the collection is the same.")
            )
        document.passages.all().delete()
        Document.objects.filter(pk=document.pk).update(
            file=file,
            name=name,
            uploaded_by=user,
            version=F("version") + 1,
            updated_at=timezone.now(),
        )
        document.collection.touch()
        _begin_again(document)
    store.release([before])
    document.refresh_from_db()
    return document


def delete_document(document: Document) -> None:
    """With its passages, their index and, if nobody else has it, its file."""
    with transaction.atomic():
        document.delete()
        document.collection.touch()
    store.release([document.file_id])


def delete_collection(collection: Collection) -> None:
    files = list(collection.documents.values_list("file_id", flat=True))
    with transaction.atomic():
        collection.delete()
    vectors.forget(collection)
    store.release(files)


def add_document(
    collection: Collection, name: str, data: bytes, *, user: User | None = None
) -> Document:
    """Upload and ingest in this thread; its state says how it went."""
    document, _ = upload(collection, name, data, user=user)
    return document if document.is_finished else run_now(document, ingest)


def ingest(document: Document) -> None:
    """The work on a claimed row. Raises JobLost, DocumentRefused."""
    text = read(document.file, document.progress)
    passages = list(_passages(document, text))
    if not passages:
        raise DocumentUnreadable(gettext("The document holds no text."))
    _embed(document, passages)
    with transaction.atomic():
        # Locked: a new version or a deletion comes before or after, not between.
        rows = Document.objects.select_for_update().filter(
            pk=document.pk, attempt=document.attempt
        )
        if not rows:
            raise JobLost
        document.passages.all().delete()
        made = Passage.objects.bulk_create(passages, batch_size=200)
        vectors.fill_pgvector([passage.pk for passage in made])
        document.collection.touch()
        document.finish(
            pages=len(text.pages),
            passage_count=len(passages),
            note=text.note,
            done=len(passages),
            total=len(passages),
            updated_at=timezone.now(),
        )


def _kind(name: str, data: bytes) -> Kind:
    kind = store.checked_kind(name, data)
    if kind.is_image:
        raise DocumentKindUnknown(
            gettext("Pictures hold no text that could be searched.")
        )
    return kind


def _begin_again(document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(
        state=Job.State.UPLOADED,
        error="",
        error_code="",
        attempt=F("attempt") + 1,
        tries=0,
        done=0,
        total=0,
        passage_count=0,
        note="",
    )
    document.refresh_from_db()
    wake(INGEST)


def _passages(document: Document, text: FileText) -> Iterator[Passage]:
    """In order, not yet stored."""
    seen: Counter[str] = Counter()
    source = text.text
    pieces = split(
        source, headings=text.headings, pages=text.pages, is_lines=text.is_lines
    )
    for position, piece in enumerate(pieces):
        said = source[piece.start : piece.end]
        yield Passage(
            uid=uid_of(document, said, seen[said]),
            document=document,
            position=position,
            text=said,
            headings=list(piece.headings),
            page=piece.page,
            last_page=piece.last_page,
            start=piece.start,
            end=piece.end,
            terms=terms_of("\n".join([document.name, *piece.headings, said])),
        )
        seen[said] += 1


def _embed(document: Document, passages: list[Passage]) -> None:
    """Raises EmbeddingsUnavailable, JobLost."""
    model = embedder()
    for start in range(0, len(passages), _EMBEDDED_AT_ONCE):
        batch = passages[start : start + _EMBEDDED_AT_ONCE]
        document.progress(start, len(passages))
        if model is None:
            return
        made = model.passages([_told(document, passage) for passage in batch])
        for passage, vector in zip(batch, made, strict=True):
            passage.vector = vectors.as_bytes(vector)
            passage.embedded_by = model.name


def _told(document: Document, passage: Passage) -> str:
    """With where it stands: a passage alone often does not name its subject."""
    return "\n".join(
        [" › ".join([_stem(document.name), *passage.headings]), passage.text]
    )


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
