"""The port `Documents`: what a run's tools read of the conversation's files."""

import uuid
from typing import Any

from chat.agent.tools.kit import Evidence, Passage
from chat.documents.jobs import Job
from chat.documents.models import Attachment, FileText
from chat.models import ChatSession
from copilot_site.lib.errors import Conflict, NotFound
from copilot_site.lib.orm import in_orm_thread


class DocumentNotReady(Conflict):
    code = "document_not_ready"


class SessionDocuments:
    """Of one conversation; by id, or by a name as the person says it."""

    def __init__(self, session_id: int) -> None:
        self._session_id = session_id

    async def listing(self) -> list[dict[str, Any]]:
        return await in_orm_thread(self._listing)()

    async def read(
        self, document: str, *, start: int = 0, length: int = 8_000
    ) -> Evidence:
        """Raises NotFound, DocumentNotReady."""
        return await in_orm_thread(self._read)(document, start, length)

    def _listing(self) -> list[dict[str, Any]]:
        return [
            {
                "id": str(attachment.pk),
                "name": attachment.name,
                "kind": attachment.file.kind,
                "state": attachment.state,
                **({"error": attachment.error} if attachment.error else {}),
                "characters": attachment.characters,
                **({"pages": attachment.pages} if attachment.pages else {}),
                "round": attachment.round,
            }
            for attachment in self._rows()
        ]

    def _read(self, document: str, start: int, length: int) -> Evidence:
        attachment = self._find(document)
        if attachment.state != Job.State.READY:
            raise DocumentNotReady(
                attachment.error
                or f"“{attachment.name}” is still being read. Try again in a moment."
            )
        reading = FileText.objects.filter(file=attachment.file_id).first()
        if reading is None:
            raise NotFound(f"“{attachment.name}” is a picture: it holds no text.")
        text = reading.text[start : start + length]
        end = start + len(text)
        passage = Passage(
            # Of this part: the same part has the same id.
            id=f"passage:{uuid.uuid5(attachment.pk, f'{start}:{end}')}",
            kind="document",
            title=attachment.name,
            text=text,
            location=_location(reading, start, end),
            time=attachment.created_at.isoformat(),
        )
        value = {
            "cite": passage.id,
            "document": attachment.name,
            "start": start,
            "characters": len(reading.text),
            "text": text,
            **({"next": end} if end < len(reading.text) else {}),
        }
        return Evidence(value=value, passages=[passage] if text.strip() else [])

    def _rows(self) -> list[Attachment]:
        rows = Attachment.objects.filter(session=self._session_id)
        return list(rows.select_related("file").order_by("created_at", "pk"))

    def _find(self, document: str) -> Attachment:
        rows, wanted = self._rows(), document.strip().casefold()
        for attachment in rows:
            if wanted in (str(attachment.pk), attachment.name.casefold()):
                return attachment
        parts = [row for row in rows if wanted and wanted in row.name.casefold()]
        if len(parts) == 1:
            return parts[0]
        names = ", ".join(f"“{row.name}”" for row in rows) or "none"
        raise NotFound(f"No file “{document}” is attached. Attached: {names}.")


def _location(reading: FileText, start: int, end: int) -> str:
    pages = [
        number
        for number, begin in enumerate(reading.pages, start=1)
        if begin < end
        and (number == len(reading.pages) or reading.pages[number] > start)
    ]
    if pages:
        first, last = pages[0], pages[-1]
        return f"p. {first}" if first == last else f"p. {first}–{last}"
    if start == 0 and end >= len(reading.text):
        return ""
    return f"characters {start}–{end}"


def documents_for(session: ChatSession) -> SessionDocuments | None:
    """None: nothing is attached. Reads the database: call it in a thread."""
    has_any = Attachment.objects.filter(session=session.pk).exists()
    return SessionDocuments(session.pk) if has_any else None
