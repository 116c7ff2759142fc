"""The invented campus: complete, loaded once, and found."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from chat.demo import loading
from chat.demo.loading import KINDS, load_campus
from chat.directory import importing
from chat.directory.models import Record, RecordKind
from chat.directory.reading import read_rows
from chat.documents.jobs import Job
from chat.knowledge.models import Collection, Document
from chat.knowledge.search import search
from chat.knowledge.tasks import ingest_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def first_start(monkeypatch: pytest.MonkeyPatch) -> None:
    # There is no worker that could be woken.
    monkeypatch.setattr("chat.documents.wake._submit", lambda task: None)
    (settings.DATA_DIR / "demo-campus").unlink(missing_ok=True)


def test_campus_has_records_of_every_kind_and_no_reference_to_nothing() -> None:
    assert load_campus()

    counts = {kind: Record.objects.filter(kind__slug=kind).count() for kind in KINDS}
    assert all(count >= 4 for count in counts.values()), counts
    for slug in KINDS:
        kind = RecordKind.objects.get(slug=slug)
        rows = read_rows((loading.CAMPUS / "records" / f"{slug}.csv").read_bytes())
        looked_at = importing.preview(rows, kind)
        assert [row.warnings for row in looked_at.rows if row.warnings] == []
        assert looked_at.count("same") == len(rows)


def test_nobody_teaches_and_no_room_is_used_twice_at_the_same_time() -> None:
    load_campus()

    taken: dict[tuple[str, str, str], list[tuple[str, str, str, str]]] = {}
    for record in Record.objects.filter(kind__slug="timetables"):
        one = record.data
        when = (one["start"], one["end"], one["first_day"], one["last_day"])
        for part in ("room", "teacher"):
            taken.setdefault((part, one[part], one["weekday"]), []).append(when)

    for place, times in taken.items():
        for number, (start, end, first, last) in enumerate(times):
            for other in times[:number]:
                is_apart = end <= other[0] or other[1] <= start
                is_later = last < other[2] or other[3] < first
                assert is_apart or is_later, place


def test_documents_of_all_formats_are_read_and_found(alice: User) -> None:
    load_campus()

    ingest_waiting()

    states = dict(Document.objects.values_list("name", "state"))
    assert len(states) == 7
    assert set(states.values()) == {Job.State.READY}, states
    readable = Collection.objects.readable_by(alice)
    for question, name in (
        ("How much are marks reduced for late submissions?", "Student-handbook.md"),
        ("Which calculator is allowed in the examination?", "Examination-rules.docx"),
        ("When does the last bus back to the station leave?", "Campus-guide.pdf"),
    ):
        best = search(question, collections=readable)[0]
        assert best.passage.document.name == name


def test_what_an_operator_deleted_does_not_come_back() -> None:
    load_campus()
    Record.objects.all().delete()
    Collection.objects.all().delete()

    assert not load_campus()

    assert not Record.objects.exists()
    assert not Collection.objects.exists()


def test_restored_backup_in_a_new_folder_is_no_first_start() -> None:
    load_campus()
    Record.objects.all().delete()
    Collection.objects.all().delete()
    (settings.DATA_DIR / "demo-campus").unlink()

    assert not load_campus()


def test_site_with_documents_of_its_own_gets_no_campus() -> None:
    Collection.objects.create(name="Ours", scope=Collection.Scope.SITE)

    assert not load_campus()

    assert not Record.objects.exists()
