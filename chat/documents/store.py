"""The bytes: one file a content under DATA_DIR/documents, named by its hash alone.

A row stands for each file. Row and file are made and removed in the same transaction,
under the row's lock, so that none is left without the other.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from chat.documents.errors import DocumentTooLarge
from chat.documents.kinds import Kind, kind_of
from chat.documents.models import File
from copilot_site.lib.errors import NotFound

# A file whose row was never committed.
_ORPHAN_SECONDS = 3600.0


def checked_kind(name: str, data: bytes) -> Kind:
    """Raises DocumentRefused."""
    limit = settings.DOCUMENT_BYTES
    if len(data) > limit:
        raise DocumentTooLarge(
            gettext("A document has at most %(size)d MB.") % {"size": limit // 2**20}
        )
    return kind_of(name, data)


def keep(data: bytes, kind: Kind) -> File:
    """The row of this content, locked; call it in the transaction that refers to it."""
    digest = hashlib.sha256(data).hexdigest()
    File.objects.get_or_create(
        sha256=digest, defaults={"kind": kind, "size": len(data)}
    )
    file = File.objects.select_for_update().get(sha256=digest)
    _write(path_of(digest), data)
    return file


def path_of(sha256: str) -> Path:
    folder: Path = settings.DATA_DIR / "documents"
    return folder / sha256[:2] / sha256


def content_of(file: File) -> bytes:
    """Raises NotFound where the disk has lost it."""
    try:
        return path_of(file.sha256).read_bytes()
    except FileNotFoundError:
        raise NotFound("The file is no longer there.") from None


def _write(path: Path, data: bytes) -> None:
    if path.is_file() and path.stat().st_size == len(data):
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Whole or not at all; made with mode 0600.
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def unused() -> QuerySet[File]:
    """To which no row refers, of whatever app."""
    rows = File.objects.all()
    for relation in File._meta.related_objects:
        if relation.name != "reading":
            users = relation.related_model._base_manager.filter(
                **{relation.field.name: OuterRef("pk")}
            )
            rows = rows.exclude(Exists(users))
    return rows


def release(digests: Iterable[str] | None = None) -> int:
    """Remove what nobody refers to any more (of these, or at all); how many."""
    candidates = unused()
    if digests is not None:
        candidates = candidates.filter(pk__in=list(digests))
    return sum(_remove(pk) for pk in list(candidates.values_list("pk", flat=True)))


def _remove(digest: str) -> bool:
    # A reference made this very moment is refused by the database, or refuses us.
    with contextlib.suppress(IntegrityError), transaction.atomic():
        list(File.objects.select_for_update().filter(pk=digest))
        if unused().filter(pk=digest).delete()[0]:
            path_of(digest).unlink(missing_ok=True)
            return True
    return False


def sweep() -> None:
    """What cascades left behind, and files that never got a row."""
    release()
    now = time.time()
    for path in (settings.DATA_DIR / "documents").glob("??/*"):
        with contextlib.suppress(FileNotFoundError):
            is_old = now - path.stat().st_mtime > _ORPHAN_SECONDS
            if is_old and not File.objects.filter(pk=path.name).exists():
                path.unlink()
