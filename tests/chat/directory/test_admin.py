"""Operators keep the directory: kinds, records, and files that they look at first."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from chat.directory.lookup import find, kind_named
from chat.directory.models import Record, RecordImport, RecordKind
from tests.chat.directory.conftest import load

LIST = "/admin/directory/recordimport/"


@pytest.fixture
def operator(transactional_db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def send(client: Client, text: str, kind: str = "courses") -> Any:
    file = SimpleUploadedFile("courses.csv", text.encode())
    form = {"kind": kind_named(kind).pk, "project": "", "file": file}
    return client.post(f"{LIST}add/", form)


def test_a_file_is_looked_at_and_then_confirmed(operator: Client) -> None:
    load("courses", "code,name,credits\nA-1,Old,5")

    response = send(operator, "code,name,credits,teacher\nA-1,New,5,x\nA-2,Two,3,")

    page = operator.get(response.url).text
    assert "changed" in page
    assert "is not in faculty yet" in page
    assert Record.objects.get().name == "Old"
    done = operator.post(response.url, follow=True)
    assert "1 records made, 1 changed, 0 were the same." in done.content.decode()
    assert {record.name for record in Record.objects.all()} == {"New", "Two"}
    one = RecordImport.objects.get()
    assert one.user is not None
    assert (one.rows, one.created_count, one.changed_count) == ([], 1, 1)


def test_a_file_counts_once(operator: Client) -> None:
    url = send(operator, "code,name\nA-1,One").url
    operator.post(url)
    Record.objects.all().delete()

    done = operator.post(url, follow=True)

    assert "imported already" in done.content.decode()
    assert not Record.objects.exists()


def test_a_file_with_an_error_shows_it_and_cannot_be_confirmed(
    operator: Client,
) -> None:
    url = send(operator, "code,name,credits\nA-1,One,many\nA-2,Two,2").url

    page = operator.get(url).text
    assert "credits: “many” is no number" in page
    assert 'type="submit" class="bg-primary-600' not in page
    operator.post(url)

    assert not Record.objects.exists()
    assert RecordImport.objects.get().confirmed_at is None


def test_a_file_that_cannot_be_read_is_told_at_the_form(operator: Client) -> None:
    response = send(operator, "")

    assert response.status_code == 200
    assert not RecordImport.objects.exists()
    assert "no records" in send(operator, "code,name").content.decode()


def test_who_may_not_write_records_imports_none(transactional_db: None) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    names = ["view_record", "view_recordimport", "add_recordimport"]
    clerk.user_permissions.set(Permission.objects.filter(codename__in=names))
    kind = kind_named("courses")
    one = RecordImport.objects.create(
        kind=kind, file_name="x", rows=[[1, {"code": "A-1", "name": "One"}]]
    )
    client = Client()
    client.force_login(clerk)

    assert send(client, "code,name\nA-1,One").status_code == 403
    assert client.post(f"{LIST}{one.pk}/preview/").status_code == 403
    assert not Record.objects.exists()


def test_an_operators_own_kind_is_looked_up(operator: Client) -> None:
    fields = [
        {"name": "tag", "label": "Tag", "type": "text", "is_key": True},
        {"name": "name", "label": "Name", "type": "text", "is_name": True},
        {"name": "keeper", "label": "Keeper", "type": "reference", "kind": "faculty"},
    ]
    form = {
        "slug": "animals",
        "label": "Animals",
        "singular": "Animal",
        "words": "pets",
        "fields": json.dumps(fields),
    }

    operator.post("/admin/directory/recordkind/add/", form)
    load("animals", "tag,name,keeper\nC-1,Felix,")

    found = find(Record.objects.all(), kind_named("animals"), text="the pet felix")
    assert [record.title for record in found.records] == ["Animal C-1 Felix"]


@pytest.mark.parametrize(
    "fields",
    [
        [],
        "text",
        [{"name": "a", "is_key": True}],
        [{"name": "a", "is_key": True}, {"name": "b"}],
        [{"name": "a", "is_key": True}, {"name": "a", "is_name": True}],
        [{"name": "A b", "is_key": True}, {"name": "b", "is_name": True}],
        [{"name": "a", "is_key": True, "type": "number"}, {"name": "b", "is_name": 1}],
        [{"name": "a", "is_key": True}, {"name": "b", "is_name": True, "x": 1}],
        [
            {"name": "a", "is_key": True},
            {"name": "b", "is_name": True},
            {"name": "c", "type": "reference"},
        ],
        [
            {"name": "a", "is_key": True},
            {"name": "b", "is_name": True},
            {"name": "c", "type": "blob"},
        ],
    ],
)
def test_a_kind_that_cannot_work_is_refused(fields: Any) -> None:
    kind = RecordKind(slug="k", label="K", singular="K", fields=fields)

    with pytest.raises(ValidationError):
        kind.clean()


def test_a_shipped_kind_grows_but_loses_nothing(transactional_db: None) -> None:
    kind = kind_named("courses")
    kind.fields = [*kind.fields, {"name": "room", "label": "Room", "type": "text"}]
    kind.clean()
    kind.save()
    load("courses", "code,name,room\nA-1,One,B-1")

    kind.fields = [field for field in kind.fields if field["name"] != "teacher"]

    with pytest.raises(ValidationError, match="teacher"):
        kind.clean()
    assert Record.objects.get().data == {"room": "B-1"}


def test_a_record_by_hand_is_checked_as_a_file_is(operator: Client) -> None:
    form = {
        "kind": kind_named("courses").pk,
        "project": "",
        "key": "A-1",
        "name": "One",
        "data": '{"credits": "many"}',
    }

    refused = operator.post("/admin/directory/record/add/", form)
    operator.post("/admin/directory/record/add/", form | {"data": '{"credits": "5"}'})

    assert "is no number" in refused.content.decode()
    assert Record.objects.get().data == {"credits": 5}


def test_chosen_records_are_exported(operator: Client, campus: None) -> None:
    courses = Record.objects.filter(kind__slug="courses")
    form = {"action": "export_csv", "_selected_action": [one.pk for one in courses]}

    response = operator.post("/admin/directory/record/", form)

    assert response["Content-Type"].startswith("text/csv")
    assert "NET-201,Computer networks,CS,mweber,6" in response.content.decode()


def test_lists_cost_the_same_however_long(
    operator: Client, campus: None, django_assert_max_num_queries: Any
) -> None:
    rows = "\n".join(f"C-{at:03},Number {at}" for at in range(60))
    load("courses", f"code,name\n{rows}")

    with django_assert_max_num_queries(12):
        response = operator.get(reverse("admin:directory_record_changelist"))
    assert response.status_code == 200
