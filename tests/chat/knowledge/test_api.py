"""Collections and documents over the API: whose they are decides what may be done."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from chat.knowledge.ingest import add_document
from chat.knowledge.models import Collection, Document
from chat.knowledge.tasks import ingest_waiting
from projects.models import Membership, Project, Role
from tests.chat.api.conftest import bearer
from tests.chat.documents import samples
from tests.conftest import LAB_ID

COLLECTIONS = "/v3/knowledge/collections"


@pytest.fixture
def client(alice: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(bob))


@pytest.fixture
def operator(transactional_db: None) -> Client:
    user = User.objects.create_user("olga", is_staff=True)
    return Client(enforce_csrf_checks=True, headers=bearer(user))


@pytest.fixture
def document(hers: Collection) -> Document:
    return add_document(hers, "labs.md", samples.MARKDOWN.encode())


def file(name: str = "a.txt", data: bytes = b"some words") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, data)}


def put(client: Client, path: str, files: dict[str, Any]) -> Any:
    return client.put(path, encode_multipart(BOUNDARY, files), MULTIPART_CONTENT)


def documents_of(collection: Collection) -> str:
    return f"{COLLECTIONS}/{collection.pk}/documents"


# Name, method, and what the address is made of.
ADDRESSES = [
    ("collection-detail", "GET", "collection_id"),
    ("collection-detail", "PATCH", "collection_id"),
    ("collection-detail", "DELETE", "collection_id"),
    ("document-list", "GET", "collection_id"),
    ("document-list", "POST", "collection_id"),
    ("document-detail", "GET", "document_id"),
    ("document-detail", "PUT", "document_id"),
    ("document-detail", "DELETE", "document_id"),
    ("document-content", "GET", "document_id"),
    ("passage-detail", "GET", "passage_id"),
]


def ask(client: Client, document: Document, name: str, method: str, key: str) -> Any:
    keys = {
        "collection_id": document.collection_id,
        "document_id": document.pk,
        "passage_id": document.passages.get().citation_id,
    }
    path = reverse(name, kwargs={key: str(keys[key])})
    if method in ("POST", "PUT"):
        body = encode_multipart(BOUNDARY, file("evil.txt", b"evil"))
        return client.generic(method, path, body, content_type=MULTIPART_CONTENT)
    return client.generic(method, path, '{"name": "mine"}', "application/json")


def untouched(document: Document) -> bool:
    before = document.version, document.collection.name
    document = Document.objects.select_related("collection").get()
    return (document.version, document.collection.name) == before


@pytest.mark.parametrize(("name", "method", "key"), ADDRESSES)
def test_a_stranger_finds_nothing(
    stranger: Client, document: Document, name: str, method: str, key: str
) -> None:
    response = ask(stranger, document, name, method, key)

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"
    assert untouched(document)


@pytest.mark.parametrize(("name", "method", "key"), ADDRESSES)
def test_nobody_is_asked_to_log_in(
    document: Document, name: str, method: str, key: str
) -> None:
    assert ask(Client(), document, name, method, key).status_code == 401
    assert untouched(document)


@pytest.mark.parametrize(
    "path", [COLLECTIONS, f"{COLLECTIONS}?project_id={LAB_ID}", "/v3/knowledge/search"]
)
def test_nobody_sees_no_list(path: str, document: Document) -> None:
    assert Client().get(path).status_code == 401


@pytest.mark.parametrize(
    ("role", "scope", "read", "write"),
    [
        (None, "project", 404, 404),
        (Role.VIEWER, "project", 200, 403),
        (Role.MEMBER, "project", 200, 403),
        (Role.ENGINEER, "project", 200, 201),
        (Role.OWNER, "project", 200, 201),
        (None, "site", 200, 403),
    ],
)
def test_roles_decide_who_reads_and_who_writes(
    stranger: Client,
    bob: User,
    site: Collection,
    labs: Collection,
    lab: Project,
    role: Role | None,
    scope: str,
    read: int,
    write: int,
) -> None:
    if role:
        Membership.objects.create(project=lab, user=bob, role=role)
    collection = labs if scope == "project" else site

    assert stranger.get(f"{COLLECTIONS}/{collection.pk}").status_code == read
    response = stranger.post(documents_of(collection), file())
    assert response.status_code == write
    listed = {row["id"]: row for row in stranger.get(COLLECTIONS).json()}
    assert (str(collection.pk) in listed) == (read == 200)
    if read == 200:
        assert listed[str(collection.pk)]["can_write"] == (write == 201)


def test_operators_write_for_the_site(operator: Client) -> None:
    made = operator.post(
        COLLECTIONS, {"name": "Campus", "scope": "site"}, "application/json"
    )

    assert made.status_code == 201
    assert made.json()["can_write"] is True
    path = f"{COLLECTIONS}/{made.json()['id']}/documents"
    assert operator.post(path, file()).status_code == 201


def test_operators_do_not_read_a_persons_collection(
    operator: Client, document: Document
) -> None:
    path = f"/v3/knowledge/documents/{document.pk}/content"

    assert operator.get(path).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "Mine"}, 201),
        ({"name": "Lab", "scope": "project", "project_id": LAB_ID}, 201),
        ({"name": "Lab", "scope": "project"}, 404),
        ({"name": "Site", "scope": "site"}, 403),
        ({"name": ""}, 422),
        ({"name": "x", "scope": "world"}, 422),
        ({"name": "Hers"}, 409),
    ],
)
def test_a_collection_is_made_where_one_may(
    client: Client, hers: Collection, lab: Project, body: Any, status: int
) -> None:
    assert client.post(COLLECTIONS, body, "application/json").status_code == status


def test_a_collection_is_renamed_and_removed(
    client: Client, hers: Collection, document: Document
) -> None:
    path = f"{COLLECTIONS}/{hers.pk}"

    renamed = client.patch(path, {"name": "Notes"}, "application/json")
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Notes")
    assert client.patch(path, {}, "application/json").status_code == 200
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert not Document.objects.exists()


def test_a_document_from_upload_to_deletion(client: Client, hers: Collection) -> None:
    made = client.post(documents_of(hers), file("Prüfung 网络.md", b"# Lab\nRoom 204."))
    assert made.status_code == 201
    path = f"/v3/knowledge/documents/{made.json()['id']}"
    assert made.json()["state"] == "uploaded"
    again = client.post(documents_of(hers), file("b.md", b"# Lab\nRoom 204."))
    assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])

    ingest_waiting()

    read = client.get(path).json()
    assert (read["state"], read["passages"], read["error"]) == ("ready", 1, None)
    assert client.get(documents_of(hers)).json() == [read]
    changed = put(client, path, file("c.md", b"# Lab\nRoom 205."))
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_a_download_is_nothing_that_a_browser_runs(
    client: Client, hers: Collection
) -> None:
    page = b"<!doctype html><script>alert(1)</script><p>words"
    made = client.post(documents_of(hers), file("x; 网.html", page)).json()

    response = client.get(f"/v3/knowledge/documents/{made['id']}/content")

    assert response.content == page
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({}, 422, "validation_error"),
        ({"file": "no file"}, 422, "validation_error"),
        (file("a.txt", b""), 422, "document_unreadable"),
        (file("a.exe", b"MZ\0\0\0"), 415, "document_kind_unknown"),
        (file("a.png", samples.PNG), 415, "document_kind_unknown"),
        (file("a.txt", b"x" * 2_000), 413, "document_too_large"),
    ],
)
def test_what_is_no_document_is_refused(
    client: Client,
    hers: Collection,
    settings: Settings,
    sent: Any,
    status: int,
    code: str,
) -> None:
    settings.DOCUMENT_BYTES = 1_000

    response = client.post(documents_of(hers), sent)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not Document.objects.exists()


def test_a_citation_opens_its_passage_in_its_context(
    client: Client, hers: Collection
) -> None:
    text = "".join(f"Sentence {n} of the book of labs. " for n in range(120))
    document = add_document(hers, "book.txt", text.encode())
    first, second, *_ = document.passages.order_by("position")

    found = client.get(f"/v3/knowledge/passages/{second.citation_id}").json()

    assert found["before"] + found["text"] + found["after"] in text
    assert found["before"].endswith(text[second.start - 20 : second.start])
    assert found["previous"] == first.citation_id
    assert found["document"]["name"] == "book.txt"
    assert client.get(f"/v3/knowledge/passages/{second.uid}").status_code == 200


@pytest.mark.parametrize("key", ["undefined", "..%2F..", "%00", "0" * 32])
def test_what_is_no_id_is_not_found(client: Client, key: str) -> None:
    for kind in ("collections", "documents", "passages"):
        assert client.get(f"/v3/knowledge/{kind}/{key}").status_code == 404


def test_only_what_one_may_read_is_searched(
    client: Client, stranger: Client, document: Document, his: Collection
) -> None:
    add_document(his, "his.txt", b"his networking lab")

    def found(who: Client, **query: Any) -> list[str]:
        answer = who.get("/v3/knowledge/search", {"q": "networking lab", **query})
        return [row["document_name"] for row in answer.json()["passages"]]

    assert found(client) == ["labs.md"]
    assert found(stranger) == ["his.txt"]
    assert found(stranger, collection=str(document.collection_id)) == []
    assert found(client, collection="Hers") == ["labs.md"]
    path = "/v3/knowledge/search"
    assert client.get(path).status_code == 422
    assert stranger.get(path, {"q": "x", "project_id": LAB_ID}).status_code == 404


def test_lists_take_as_many_queries_for_many(
    client: Client,
    hers: Collection,
    document: Document,
    lab: Project,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(5):
        Collection.objects.create(name=f"L{number}", scope="project", project=lab)
        add_document(hers, f"{number}.txt", f"words {number}".encode())

    with django_assert_num_queries(2):
        assert len(client.get(COLLECTIONS).json()) == 6
    with django_assert_num_queries(3):
        assert len(client.get(documents_of(hers)).json()) == 6
