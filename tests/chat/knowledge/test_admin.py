"""Operators upload and remove documents of the site, and see no text of them."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from chat.knowledge.ingest import add_document
from chat.knowledge.models import Collection, Document
from chat.knowledge.reindexing import reindex
from chat.knowledge.tasks import ingest_waiting
from tests.chat.knowledge.conftest import Topics

ADD = "admin:knowledge_document_add"
CHANGE = "admin:knowledge_document_change"
LIST = "admin:knowledge_document_changelist"


@pytest.fixture
def operator(transactional_db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client


def file(data: bytes = b"words of the site") -> SimpleUploadedFile:
    return SimpleUploadedFile("../a.txt", data)


def test_an_operator_uploads_a_document_and_a_new_version(
    operator: Client, site: Collection
) -> None:
    made = operator.post(reverse(ADD), {"collection": site.pk, "upload": file()})
    assert made.status_code == 302
    document = Document.objects.get()
    assert (document.name, document.state) == ("a.txt", "uploaded")

    path = reverse(CHANGE, args=[document.pk])
    assert operator.get(path).status_code == 200
    assert operator.post(path, {"upload": file(b"other words")}).status_code == 302
    document.refresh_from_db()
    assert document.version == 2


def test_a_file_that_is_none_is_an_error_of_the_form(
    operator: Client, site: Collection
) -> None:
    for fields in ({}, {"upload": file(b"MZ\0\0")}):
        answer = operator.post(reverse(ADD), {"collection": site.pk, **fields})
        assert answer.status_code == 200
    assert not Document.objects.exists()


def test_a_removed_document_takes_its_file_along(
    operator: Client, site: Collection, data_dir: Path
) -> None:
    document = add_document(site, "a.txt", b"words of the site")
    stored = next((data_dir / "documents").rglob(document.file_id))

    path = reverse("admin:knowledge_document_delete", args=[document.pk])
    operator.post(path, {"post": "yes"})

    assert not stored.exists()
    again = add_document(site, "a.txt", b"words of the site")
    path = reverse("admin:knowledge_collection_delete", args=[site.pk])
    operator.post(path, {"post": "yes"})
    assert not Document.objects.filter(pk=again.pk).exists()
    assert not stored.exists()


def test_an_operator_lets_documents_be_read_again(
    operator: Client, site: Collection
) -> None:
    document = add_document(site, "a.txt", b"words of the site")

    keys = {"action": "read_again", "_selected_action": [str(document.pk)]}
    operator.post(reverse(LIST), keys)

    document.refresh_from_db()
    assert document.state == "uploaded"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"scope": "site"}, 302),
        ({"scope": "user"}, 200),
        ({"scope": "project"}, 200),
    ],
)
def test_a_collection_belongs_to_whom_its_scope_says(
    operator: Client, fields: dict[str, str], status: int
) -> None:
    answer = operator.post(
        reverse("admin:knowledge_collection_add"), {"name": "New", **fields}
    )

    assert answer.status_code == status


@pytest.mark.parametrize("name", ["document", "collection"])
def test_lists_take_as_many_queries_for_many(
    operator: Client,
    site: Collection,
    name: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(8):
        add_document(site, f"{number}.txt", f"words {number}".encode())
        Collection.objects.create(name=f"C{number}", scope="site")
    path = reverse(f"admin:knowledge_{name}_changelist")
    operator.get(path)

    with django_assert_max_num_queries(12):
        assert operator.get(path).status_code == 200


@pytest.mark.database
def test_documents_get_vectors_of_the_model_of_today(
    site: Collection, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chat.knowledge import reindexing

    monkeypatch.setattr(reindexing, "embedder", lambda: topics)
    document = add_document(site, "a.txt", b"words of the site")
    assert reindex() == 0

    topics.name = "another"
    assert reindex() == 1
    ingest_waiting()

    assert document.passages.get().embedded_by == "another"
    assert reindex(everything=True) == 1
