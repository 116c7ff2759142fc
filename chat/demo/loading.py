"""An invented campus for a first look: records of all kinds and a few documents."""

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.directory import importing
from chat.directory.models import Record, RecordImport, RecordKind
from chat.directory.reading import read_rows
from chat.knowledge.ingest import upload
from chat.knowledge.models import Collection

CAMPUS = Path(__file__).parent / "campus"
COLLECTION = "Campus"
# What others refer to comes first.
KINDS = ("departments", "faculty", "facilities", "courses", "timetables")


def load_campus() -> bool:
    """Once on a site that has nothing of its own; what was deleted stays deleted.

    The workers read the documents.
    """
    mark = settings.DATA_DIR / "demo-campus"
    if mark.exists() or _has_anything():
        return False
    with transaction.atomic():
        for kind in KINDS:
            _import(kind)
        _upload()
    mark.touch(mode=0o600)
    return True


def _has_anything() -> bool:
    site = Collection.objects.filter(scope=Collection.Scope.SITE)
    rows = (Record.objects, RecordImport.objects, site)
    return any(found.exists() for found in rows)


def _import(slug: str) -> None:
    kind = RecordKind.objects.named(slug)
    assert kind is not None
    file = CAMPUS / "records" / f"{slug}.csv"
    looked_at = importing.preview(read_rows(file.read_bytes()), kind)
    importing.apply(looked_at, source=f"demo: {file.name}")
    # Stays when the records are deleted: a restored backup is not a first start.
    RecordImport.objects.create(
        kind=kind,
        file_name=f"demo: {file.name}",
        created_count=looked_at.count("new"),
        confirmed_at=timezone.now(),
    )


def _upload() -> None:
    collection = Collection.objects.create(
        name=COLLECTION,
        scope=Collection.Scope.SITE,
        description="Handbook, rules and guides of an invented campus.",
    )
    for file in sorted((CAMPUS / "documents").iterdir()):
        upload(collection, file.name, file.read_bytes())
