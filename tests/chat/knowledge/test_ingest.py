"""Documents come in, change and go, and nothing of them stays behind."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from chat.documents import jobs, store
from chat.documents.errors import DocumentRefused, TooManyDocuments
from chat.documents.extract import read
from chat.documents.models import File, FileText
from chat.housekeeping import Housekeeper
from chat.knowledge import ingest as ingesting
from chat.knowledge import tasks
from chat.knowledge.ingest import (
    DocumentExists,
    add_document,
    delete_collection,
    delete_document,
    ingest,
    replace,
    upload,
)
from chat.knowledge.models import Collection, Document, Passage
from chat.knowledge.search import search
from projects.models import Project
from tests.chat.documents import samples
from tests.chat.knowledge.conftest import Topics

pytestmark = pytest.mark.database

FIRST = b"The password policy asks for ten signs. Ask Meyer in room 204."
SECOND = b"The password policy asks for twenty signs."


def found(text: str) -> list[str]:
    hits = search(text, collections=Collection.objects.all())
    return [hit.passage.text for hit in hits if hit.coverage]


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "documents").rglob("*") if path.is_file()]


def work_off() -> None:
    tasks.ingest_waiting()


def test_an_uploaded_document_is_ingested_by_a_worker(
    site: Collection, woken: list[str]
) -> None:
    document, is_new = upload(site, "labs.md", samples.MARKDOWN.encode())
    assert (document.state, is_new) == ("uploaded", True)
    assert woken == ["chat.knowledge.tasks.ingest_documents"]

    tasks.ingest_documents()

    document.refresh_from_db()
    assert (document.state, document.error) == ("ready", "")
    passage = document.passages.get()
    assert passage.headings == ["Labs"]
    assert found("Mensa") == [samples.MARKDOWN.strip()]


def test_a_document_can_be_ingested_at_once(site: Collection, alice: User) -> None:
    document = add_document(site, "a.pdf", samples.pdf("One", "Two"), user=alice)

    assert (document.state, document.pages) == ("ready", 2)
    passage = document.passages.get()
    assert passage.location == "p. 1–2"
    assert passage.text == FileText.objects.get().text[passage.start : passage.end]


def test_files_are_named_by_their_hash_and_private(
    site: Collection, data_dir: Path
) -> None:
    document = add_document(site, "../../evil.txt", FIRST)

    [path] = files(data_dir)
    assert path.name == document.file_id
    assert path.parent.name == document.file_id[:2]
    assert path.stat().st_mode & 0o777 == 0o600
    assert document.name == "evil.txt"


def test_the_same_content_again_is_the_same_document(
    site: Collection, woken: list[str]
) -> None:
    first = add_document(site, "a.txt", FIRST)
    again, is_new = upload(site, "b.txt", FIRST)

    assert (again, is_new) == (first, False)
    assert len(woken) == 1
    assert Passage.objects.count() == 1


def test_two_collections_share_a_file_and_no_passage(
    site: Collection, hers: Collection, data_dir: Path
) -> None:
    one, other = add_document(site, "a.txt", FIRST), add_document(hers, "b.txt", FIRST)
    assert len(files(data_dir)) == File.objects.count() == 1

    delete_document(one)
    assert len(files(data_dir)) == 1
    assert list(Passage.objects.values_list("document", flat=True)) == [other.pk]

    delete_document(other)
    assert files(data_dir) == []
    assert (File.objects.count(), FileText.objects.count()) == (0, 0)


def test_of_a_replaced_document_only_the_new_text_is_found(
    site: Collection, data_dir: Path
) -> None:
    document = add_document(site, "a.txt", FIRST)

    replace(document, "a.txt", SECOND)
    assert found("Meyer") == found("password") == []
    work_off()

    assert found("Meyer") == []
    assert found("password") == [SECOND.decode()]
    document.refresh_from_db()
    assert (document.state, document.version) == ("ready", 2)
    assert [path.name for path in files(data_dir)] == [document.file_id]


def test_an_unchanged_passage_keeps_its_id(site: Collection) -> None:
    kept = "".join(f"The lab has {n} routers and a switch. " for n in range(30))
    document = add_document(site, "a.md", f"# A\n{kept}\n\n# B\n{kept}old".encode())
    before = dict(document.passages.values_list("text", "uid"))

    document = replace(document, "a.md", f"# A\n{kept}\n\n# B\n{kept}new".encode())
    work_off()

    after = dict(document.passages.values_list("text", "uid"))
    same = before.keys() & after.keys()
    assert same
    assert {before[text] for text in same} == {after[text] for text in same}


def test_a_version_that_is_another_document_is_refused(site: Collection) -> None:
    first = add_document(site, "a.txt", FIRST)
    add_document(site, "b.txt", SECOND)

    with pytest.raises(DocumentExists):
        replace(first, "a.txt", SECOND)

    assert found("Meyer") == [FIRST.decode()]


def test_a_deleted_document_leaves_nothing(site: Collection, data_dir: Path) -> None:
    document = add_document(site, "a.txt", FIRST)

    delete_document(document)

    assert found("password") == files(data_dir) == []
    assert not Passage.objects.exists()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM knowledge_search "
                "WHERE knowledge_search MATCH 'password'"
            )
            assert cursor.fetchone() == (0,)
            # Raises when index and table do not fit each other.
            cursor.execute(
                "INSERT INTO knowledge_search(knowledge_search, rank) "
                "VALUES ('integrity-check', 1)"
            )


def test_a_deleted_collection_leaves_nothing(site: Collection, data_dir: Path) -> None:
    add_document(site, "a.txt", FIRST)
    add_document(site, "b.txt", SECOND)

    delete_collection(site)

    assert files(data_dir) == []
    assert not Document.objects.exists()


def test_what_a_deleted_project_leaves_is_swept(
    labs: Collection, lab: Project, data_dir: Path
) -> None:
    add_document(labs, "a.txt", FIRST)
    lab.delete()
    assert len(files(data_dir)) == 1

    store.sweep()

    assert files(data_dir) == []
    assert not File.objects.exists()


def test_an_unreadable_document_fails_with_its_reason(site: Collection) -> None:
    document = add_document(site, "a.pdf", b"%PDF-1.7 nothing of the kind")

    assert document.state == "failed"
    assert document.error == "The PDF is damaged."
    assert document.error_code == "document_unreadable"


def test_a_failed_document_can_be_tried_again(
    site: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ingesting, "split", None)
        failed = add_document(site, "a.txt", FIRST)
    assert (failed.state, failed.error_code) == ("failed", "internal_error")

    document, is_new = upload(site, "a.txt", FIRST)
    work_off()

    document.refresh_from_db()
    assert (document, is_new, document.state) == (failed, False, "ready")


def test_pictures_are_not_ingested(site: Collection) -> None:
    with pytest.raises(DocumentRefused, match="Pictures"):
        upload(site, "a.png", samples.PNG)


def test_a_collection_is_full_at_some_time(
    site: Collection, settings: Settings, data_dir: Path
) -> None:
    settings.COLLECTION_DOCUMENTS = 1
    upload(site, "a.txt", FIRST)

    with pytest.raises(TooManyDocuments):
        upload(site, "b.txt", SECOND)

    assert File.objects.count() == 1


def test_a_dead_workers_document_is_taken_over(site: Collection) -> None:
    document, _ = upload(site, "a.txt", FIRST)
    assert document.claim()
    work_off()
    document.refresh_from_db()
    assert document.state == "ingesting"

    long_ago = timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1)
    Document.objects.update(worked_at=long_ago)
    work_off()

    document.refresh_from_db()
    assert (document.state, document.attempt) == ("ready", 2)


def test_a_document_that_kills_its_workers_is_given_up(site: Collection) -> None:
    upload(site, "a.txt", FIRST)
    long_ago = timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1)
    Document.objects.update(state="ingesting", worked_at=long_ago, tries=3)

    work_off()

    assert Document.objects.get().error_code == "worker_died"


def test_a_worker_that_comes_too_late_writes_nothing(
    site: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(site, "a.txt", FIRST)

    def slow(file: File, progress: Any) -> FileText:
        text = read(file, progress)
        if not Document.objects.filter(version=2).exists():
            replace(Document.objects.get(), "a.txt", SECOND)
        return text

    monkeypatch.setattr(ingesting, "read", slow)
    work_off()

    assert found("password") == [SECOND.decode()]


def test_a_worker_that_ends_gives_its_document_back(
    site: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = threading.Event()
    monkeypatch.setattr(jobs, "closing", closing)
    document, _ = upload(site, "a.txt", FIRST)
    assert document.claim()
    closing.set()

    jobs.do(document, ingest)

    document.refresh_from_db()
    assert (document.state, document.tries) == ("uploaded", 0)


def test_progress_is_seen_while_a_document_is_embedded(
    site: Collection, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    real = Document.progress

    def progress(self: Document, done: int, total: int) -> None:
        real(self, done, total)
        seen.append(Document.objects.values_list("done", "total").get())

    monkeypatch.setattr(Document, "progress", progress)
    text = "".join(f"Sentence number {n} of the lab's long book. " for n in range(400))

    document = add_document(site, "a.txt", text.encode())

    assert document.passage_count > 16
    assert seen == sorted(seen)
    assert seen[-1][1] == document.passage_count


def test_more_is_not_ingested_at_once_than_is_allowed(
    site: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = threading.BoundedSemaphore(1)
    monkeypatch.setattr(jobs, "_slots", slots)
    upload(site, "a.txt", FIRST)
    slots.acquire()

    work_off()
    assert Document.objects.get().state == "uploaded"

    slots.release()
    work_off()
    assert Document.objects.get().state == "ready"


def test_housekeeping_finds_what_no_message_told_of(site: Collection) -> None:
    upload(site, "a.txt", FIRST)
    keeper = Housekeeper()

    keeper.beat()
    thread = keeper.documents._thread
    assert thread is not None
    thread.join(30)

    assert Document.objects.get().state == "ready"
