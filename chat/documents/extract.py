"""A stored file → its text, whatever its kind: at most once for each content."""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from chat.documents.errors import DocumentRefused, DocumentUnreadable
from chat.documents.kinds import Kind
from chat.documents.models import File, FileText
from chat.documents.reading.plain import (
    read_csv,
    read_lines,
    read_markdown,
    read_text,
)
from chat.documents.reading.types import Limits, Progress, Reading, Refused
from chat.documents.store import content_of, path_of

# Raise it when the readers change what they yield.
READER = 2
_PLAIN = {
    Kind.TEXT: read_text,
    Kind.MARKDOWN: read_markdown,
    Kind.CSV: read_csv,
    Kind.CONFIG: read_lines,
    Kind.LOG: read_lines,
}


class ReadingTooSlow(DocumentRefused):
    code = "document_too_slow"


def read(file: File, progress: Progress) -> FileText:
    """From the database if it was read before. Raises DocumentRefused."""
    known = FileText.objects.filter(file=file, reader=READER).first()
    if known is not None:
        return known
    try:
        found = _read(file, progress)
    except Refused as refused:
        raise _as_error(str(refused), refused.code) from None
    text, _ = FileText.objects.update_or_create(
        file=file,
        defaults={
            "text": found.text,
            "pages": found.pages,
            "headings": found.headings,
            "is_lines": found.is_lines,
            "note": found.note,
            "reader": READER,
        },
    )
    return text


def _read(file: File, progress: Progress) -> Reading:
    kind, limits = Kind(file.kind), _limits()
    if kind.is_image:
        raise DocumentUnreadable(gettext("A picture holds no text that could be read."))
    if reader := _PLAIN.get(kind):
        return reader(content_of(file), limits)
    content_of(file)
    return _in_child(kind, path_of(file.sha256), limits, progress)


def _limits() -> Limits:
    return Limits(
        pages=settings.DOCUMENT_PAGES,
        unpacked_bytes=settings.DOCUMENT_UNPACKED_BYTES,
        text_length=settings.DOCUMENT_TEXT_LENGTH,
        seconds=settings.DOCUMENT_SECONDS,
    )


def _in_child(kind: Kind, path: Path, limits: Limits, progress: Progress) -> Reading:
    """A crash, a loop without end and too much memory are its own."""
    bounds = json.dumps(
        {name: getattr(limits, name) for name in Limits.__dataclass_fields__}
    )
    arguments = ["-m", "chat.documents.reading.child", kind.value, str(path), bounds]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=settings.BASE_DIR,
        # Nothing of ours: keys stand in our environment.
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        for line in _lines(process, limits):
            answer: dict[str, Any] = json.loads(line)
            if "refused" in answer:
                raise Refused(answer["refused"], answer["code"])
            if "reading" in answer:
                return Reading(**answer["reading"])
            progress(answer["done"], answer["total"])
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
    raise DocumentUnreadable(gettext("The file is damaged, or too complex to be read."))


def _lines(process: subprocess.Popen[bytes], limits: Limits) -> Iterator[bytes]:
    """Until it ends. Raises ReadingTooSlow."""
    assert process.stdout is not None
    deadline = time.monotonic() + limits.seconds
    # A sign is at most twelve bytes of JSON.
    left = limits.text_length * 12 + 2**22
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not selector.select(remaining):
                raise ReadingTooSlow(
                    f"Reading took longer than {limits.seconds:.0f} seconds."
                )
            data = os.read(process.stdout.fileno(), 1 << 20)
            left -= len(data)
            if not data or left < 0:
                return
            *whole, rest = data.split(b"\n")
            for piece in whole:
                yield b"".join([*parts, piece])
                parts = []
            parts.append(rest)


def _as_error(message: str, code: str) -> DocumentRefused:
    error = DocumentRefused(message)
    error.code = code  # type: ignore[misc] # the child's word
    return error
