"""Files that people attach to a conversation, and the message they come with."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from chat.documents import store
from chat.documents.errors import DocumentUnreadable, TooManyDocuments
from chat.documents.extract import read
from chat.documents.jobs import Job, JobQuerySet, work_off
from chat.documents.models import Attachment
from chat.documents.names import safe_name
from chat.documents.wake import wake
from chat.models import ChatSession, Message
from copilot_site.lib.errors import NotFound

READ = "chat.documents.tasks.read_attachments"


def attach(
    session: ChatSession, name: str, data: bytes, *, user: User
) -> tuple[Attachment, bool]:
    """Store it and let a worker read it; False: the conversation had it before.

    Raises DocumentRefused, TooManyDocuments.
    """
    name = safe_name(name)
    kind = store.checked_kind(name, data)
    with transaction.atomic():
        # Locked: two at once would both be the last that may come.
        list(ChatSession.objects.select_for_update().filter(pk=session.pk))
        file = store.keep(data, kind)
        known = session.attachments.filter(file=file).select_related("file").first()
        if known is not None:
            return known, False
        limit = settings.SESSION_DOCUMENTS
        if session.attachments.count() >= limit:
            raise TooManyDocuments(
                gettext("A conversation has at most %(count)d documents.")
                % {"count": limit}
            )
        attachment = Attachment.objects.create(
            session=session,
            file=file,
            name=name,
            uploaded_by=user,
            # There is nothing to be read in a picture.
            state=Job.State.READY if kind.is_image else Job.State.UPLOADED,
        )
        if not kind.is_image:
            wake(READ)
    return attachment, True


def detach(attachment: Attachment) -> None:
    """Also from the message that it came with."""
    digest, message = attachment.file_id, attachment.message
    with transaction.atomic():
        if message is not None:
            documents = message.metadata.get("documents", [])
            gone = str(attachment.pk)
            _tell(message, [item for item in documents if item["id"] != gone])
        attachment.delete()
    store.release([digest])


def link(message: Message, document_ids: Sequence[uuid.UUID] | None) -> int:
    """The waiting ones (None), or those named, now belong to the message; how many.

    Call it in the transaction that stores the message. Raises NotFound for one that is
    not in the conversation.
    """
    rows = Attachment.objects.filter(session=message.session_id)
    if document_ids is not None:
        wanted = set(document_ids)
        rows = rows.filter(pk__in=wanted)
        if rows.count() != len(wanted):
            raise NotFound("There is no such document in this conversation.")
    found = list(rows.pending().select_related("file").order_by("created_at", "pk"))
    if found:
        keys = [attachment.pk for attachment in found]
        rows.filter(pk__in=keys).update(message=message, round=message.round)
        _tell(message, [_in_short(attachment) for attachment in found])
    return len(found)


def _tell(message: Message, documents: list[dict[str, Any]]) -> None:
    """The message says itself what it came with, wherever it is shown."""
    message.metadata["documents"] = documents
    message.save(update_fields=["metadata"])


def _in_short(attachment: Attachment) -> dict[str, Any]:
    return {
        "id": str(attachment.pk),
        "name": attachment.name,
        "kind": attachment.file.kind,
        "size": attachment.file.size,
    }


def read_attachment(attachment: Attachment) -> None:
    """The work on a claimed row. Raises JobLost, DocumentRefused."""
    text = read(attachment.file, attachment.progress)
    if not text.text.strip():
        raise DocumentUnreadable(gettext("The document holds no text."))
    attachment.finish(pages=len(text.pages), characters=len(text.text))


def waiting_attachments() -> JobQuerySet:
    return Attachment.objects.select_related("file")


def read_waiting() -> None:
    """Until nothing waits, a few at a time in each worker."""
    work_off(waiting_attachments, read_attachment)
