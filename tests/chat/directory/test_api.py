"""The directory over REST and on its pages."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from chat.directory.models import Record
from projects.models import Project
from tests.chat.api.conftest import bearer
from tests.chat.directory.conftest import load


@pytest.fixture
def client(alice: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(bob))


@pytest.fixture
def secret(lab: Project, campus: None) -> Record:
    """Of alice's project alone."""
    load("courses", "code,name\nLAB-1,Of the lab", lab)
    return Record.objects.get(key="LAB-1")


def test_kinds_have_their_fields_and_counts(client: Client, secret: Record) -> None:
    kinds = {one["slug"]: one for one in client.get("/v3/directory/kinds").json()}

    assert {slug: one["count"] for slug, one in kinds.items()} == {
        "courses": 4,
        "departments": 2,
        "facilities": 3,
        "faculty": 2,
        "timetables": 3,
    }
    assert kinds["courses"]["fields"][3] == {
        "name": "teacher",
        "label": "Teacher",
        "type": "reference",
        "kind": "faculty",
        "is_key": False,
        "is_name": False,
    }


def test_records_are_found_and_paged(client: Client, campus: None) -> None:
    path = "/v3/directory/courses"
    page = client.get(path, {"field": "credits:>=6", "limit": 1, "offset": 1}).json()

    assert (page["count"], [one["key"] for one in page["records"]]) == (2, ["NET-301"])
    assert page["records"][0]["data"]["credits"] == 6
    found = client.get("/v3/directory/timetables", {"weekday": "Mo", "time": "14:30"})
    assert [one["key"] for one in found.json()["records"]] == ["T3"]
    nearest = client.get(path, {"q": "quantum networking"}).json()["nearest"]
    assert "NET-201 Computer networks" in nearest


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"field": "credits"},
        {"field": "colour:red"},
        {"q": "x" * 501},
    ],
)
def test_a_wrong_query_is_422(client: Client, campus: None, query: dict) -> None:
    assert client.get("/v3/directory/courses", query).status_code == 422


def test_an_unknown_kind_is_404(client: Client, campus: None) -> None:
    response = client.get("/v3/directory/pets")

    assert (response.status_code, response.json()["code"]) == (404, "unknown_kind")


def test_one_record_has_its_relations(client: Client, campus: None) -> None:
    record = Record.objects.get(key="T1")

    found = client.get(f"/v3/directory/records/{record.pk}").json()

    assert found["title"] == "Class Computer networks lecture"
    assert (
        "Computer networks lecture · Room: B-204 Networking lab" in (found["relations"])
    )


def test_a_stranger_finds_no_record_of_a_project(
    stranger: Client, client: Client, secret: Record
) -> None:
    address = reverse("directory-record-detail", kwargs={"record_id": secret.pk})

    assert client.get(address).status_code == 200
    assert stranger.get(address).status_code == 404
    assert stranger.get("/v3/directory/courses").json()["count"] == 3
    kinds = stranger.get("/v3/directory/kinds").json()
    assert {one["slug"]: one["count"] for one in kinds}["courses"] == 3
    for wrong in (uuid.uuid4(), "not-an-id"):
        assert client.get(f"/v3/directory/records/{wrong}").status_code == 404


def test_nobody_is_asked_to_log_in(secret: Record) -> None:
    for path in ("kinds", "courses", f"records/{secret.pk}"):
        assert Client().get(f"/v3/directory/{path}").status_code == 401
    for path in ("", "courses/", f"records/{secret.pk}/"):
        response = Client().get(f"/directory/{path}")
        assert response.url == f"/login/?next=/directory/{path}"


def test_a_look_up_costs_the_same_however_many_there_are(
    client: Client, campus: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    rows = "\n".join(f"C-{at:03},Number {at},mweber,CS" for at in range(300))
    load("courses", f"code,name,teacher,department\n{rows}")

    with django_assert_max_num_queries(9):
        client.get("/v3/directory/courses", {"q": "number 7"})


def test_pages_show_kinds_records_and_one_record(
    secret: Record, alice: User, bob: User
) -> None:
    client = Client()
    client.force_login(alice)
    lecture = Record.objects.get(key="T1")

    assert "Timetables" in client.get("/directory/").text
    page = client.get("/directory/courses/", {"q": "netwrok securty"}).text
    assert "NET-301 Network security" in page
    assert "PHY-101" not in page
    page = client.get("/directory/courses/", {"q": "quantum networking"}).text
    assert "Nearest:" in page
    assert "Computer Science (CS)" in client.get("/directory/faculty/").text
    shown = client.get(f"/directory/records/{lecture.pk}/").text
    assert "Networking lab (B-204)" in shown
    assert "Course: NET-201 Computer networks" in shown
    assert client.get(f"/directory/records/{secret.pk}/").status_code == 200
    assert client.get("/directory/pets/").status_code == 404
    client.force_login(bob)
    assert client.get(f"/directory/records/{secret.pk}/").status_code == 404


def test_pages_run_no_text_of_a_record(transactional_db: None, alice: User) -> None:
    load("courses", "code,name\nX-1,<script>alert(1)</script>")
    client = Client()
    client.force_login(alice)

    for path in ("courses/", f"records/{Record.objects.get().pk}/"):
        text = client.get(f"/directory/{path}").text
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text
