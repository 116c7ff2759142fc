"""What a file is: by its content; the name only tells one kind of text from another."""

import io
import re
import zipfile
from pathlib import PurePosixPath

from django.db import models
from django.utils.translation import gettext

from chat.documents.errors import DocumentKindUnknown, DocumentUnreadable
from chat.documents.reading.decode import decoded, looks_like_text


class Kind(models.TextChoices):
    TEXT = "text", "text"
    MARKDOWN = "markdown", "Markdown"
    HTML = "html", "HTML"
    PDF = "pdf", "PDF"
    DOCX = "docx", "Word"
    CSV = "csv", "table"
    CONFIG = "config", "configuration"
    LOG = "log", "log"
    PNG = "png", "PNG"
    JPEG = "jpeg", "JPEG"
    WEBP = "webp", "WebP"

    @property
    def is_image(self) -> bool:
        return self in (Kind.PNG, Kind.JPEG, Kind.WEBP)

    @property
    def media_type(self) -> str:
        """As it is sent to a browser: nothing that one would run."""
        return _MEDIA_TYPES.get(self, "text/plain; charset=utf-8")


_MEDIA_TYPES = {
    Kind.PDF: "application/pdf",
    Kind.DOCX: (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    ),
    Kind.HTML: "application/octet-stream",
    Kind.PNG: "image/png",
    Kind.JPEG: "image/jpeg",
    Kind.WEBP: "image/webp",
}
_OF_TEXT = {
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".csv": Kind.CSV,
    ".tsv": Kind.CSV,
    ".cfg": Kind.CONFIG,
    ".conf": Kind.CONFIG,
    ".config": Kind.CONFIG,
    ".log": Kind.LOG,
}
_HTML = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b")
_ZIP = b"PK\x03\x04"
_ACCEPTED = (
    "Text, Markdown, HTML, PDF, Word (.docx), CSV, configurations and logs are taken."
)


def kind_of(name: str, data: bytes) -> Kind:
    """Raises DocumentKindUnknown, DocumentUnreadable (empty or damaged)."""
    if not data.strip():
        raise DocumentUnreadable(gettext("The file is empty."))
    if image := _image(data):
        return image
    if b"%PDF-" in data[:1024]:
        return Kind.PDF
    if data.startswith(_ZIP):
        return _in_zip(data)
    if not looks_like_text(data):
        raise DocumentKindUnknown(f"This kind of file can't be read. {_ACCEPTED}")
    if _HTML.match(decoded(data[:4000]).lower()):
        return Kind.HTML
    return _OF_TEXT.get(PurePosixPath(name).suffix.lower(), Kind.TEXT)


def _image(data: bytes) -> Kind | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Kind.PNG
    if data.startswith(b"\xff\xd8\xff"):
        return Kind.JPEG
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Kind.WEBP
    return None


def _in_zip(data: bytes) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise DocumentUnreadable(gettext("The file is damaged.")) from None
    if "word/document.xml" in names and "[Content_Types].xml" in names:
        return Kind.DOCX
    raise DocumentKindUnknown(f"Archives are not unpacked. {_ACCEPTED}")
