"""Looking up records: by words, by field, by weekday and time; and what may be seen."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.directory.lookup import Records, UnknownKind, find, kind_named
from chat.directory.matching import NoWeekdayOrTime, UnknownField
from chat.directory.models import Record, RecordKind
from chat.directory.when import WhenUnclear
from projects.models import Membership, Project, Role, Server
from tests.chat.directory.conftest import load
from tests.chat.support import db


def keys(kind: str, **asked: Any) -> list[str]:
    found = find(Record.objects.all(), kind_named(kind), **asked)
    return [record.key for record in found.records]


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("courses", "Which courses are there?", ["NET-201", "NET-301", "PHY-101"]),
        ("courses", "Welche Kurse gibt es?", ["NET-201", "NET-301", "PHY-101"]),
        ("courses", "有哪些课程？", ["NET-201", "NET-301", "PHY-101"]),
        ("courses", "Who teaches NET201?", ["NET-201"]),
        ("courses", "net 301", ["NET-301"]),
        ("courses", "the course on netwrok securty", ["NET-301"]),
        ("courses", "Is there a course on underwater basket weaving?", []),
        ("courses", "What does Weber teach?", ["NET-201", "NET-301"]),
        ("facilities", "Where is the networking lab?", ["B-204"]),
        ("facilities", "Which rooms have routers?", ["B-204"]),
        ("facilities", "swimming pool", []),
        ("faculty", "Where is Dr Joerg Mueller's office?", ["jmueller"]),
        ("faculty", "MULLER", ["jmueller"]),
        ("faculty", "mueler", ["jmueller"]),
        ("faculty", "Who has office hours on Monday at 11?", ["mweber"]),
        ("departments", "Who is the head of physics?", ["PH"]),
        ("timetables", "What is on Monday at 10?", ["T1"]),
        ("timetables", "星期一上午十点有什么课？", ["T1"]),
        ("timetables", "When does Maria Weber teach?", ["T1", "T3"]),
        ("timetables", "Which classes does Müller give on Tuesday morning?", ["T2"]),
    ],
)
def test_a_question_finds_its_records(
    campus: None, kind: str, text: str, found: list[str]
) -> None:
    assert keys(kind, text=text) == found


async def test_only_an_operators_own_kinds_are_named_for_planning(alice: User) -> None:
    def define() -> None:
        kind_named("courses")
        RecordKind.objects.create(
            slug="clubs",
            label="Student clubs",
            singular="Student club",
            words="Hochschulgruppe 社团",
            fields=[{"name": "name", "label": "Name", "is_name": True}],
        )

    await db(define)()

    [kind] = await Records(alice, None).own_kinds()

    assert kind.slug == "clubs"
    assert list(kind.names) == [
        "Student clubs",
        "Student club",
        "Hochschulgruppe",
        "社团",
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "found"),
    [
        ("courses", {"credits": ">=6"}, ["NET-201", "NET-301"]),
        ("courses", {"credits": "5"}, ["PHY-101"]),
        ("courses", {"credits": "4-5"}, ["PHY-101"]),
        ("courses", {"Teacher": "Weber"}, ["NET-201", "NET-301"]),
        ("courses", {"teacher": "jmueller"}, ["PHY-101"]),
        ("courses", {"code": "net201"}, ["NET-201"]),
        ("courses", {"department": "Physics", "credits": ">5"}, []),
        ("facilities", {"equipment": "PCs"}, ["B-204"]),
        ("timetables", {"weekday": "montag"}, ["T1", "T3"]),
        ("timetables", {"start": "9:00"}, ["T2"]),
        ("courses", {"semester": "Winter"}, []),
    ],
)
def test_fields_narrow_it(
    campus: None, kind: str, fields: dict[str, str], found: list[str]
) -> None:
    assert keys(kind, fields=fields) == found


@pytest.mark.parametrize(
    ("kind", "weekday", "time", "found"),
    [
        ("timetables", "Monday", "", ["T1", "T3"]),
        ("timetables", "Montag", "14:00-15:00", ["T3"]),
        ("timetables", "", "10:00", ["T1", "T2"]),
        ("timetables", "Monday 11:30", "", []),
        ("timetables", "Mo-Di", "", ["T1", "T3", "T2"]),
        ("facilities", "", "21:00", ["L-1"]),
        ("facilities", "", "1:00", ["L-1"]),
        ("facilities", "", "9:30", ["B-204", "A-101"]),
    ],
)
def test_weekday_and_time_narrow_it_in_the_order_of_the_week(
    campus: None, kind: str, weekday: str, time: str, found: list[str]
) -> None:
    assert keys(kind, weekday=weekday, time=time) == found


def test_what_cannot_be_asked_is_told(campus: None) -> None:
    with pytest.raises(UnknownField, match="teacher"):
        keys("courses", fields={"colour": "red"})
    with pytest.raises(NoWeekdayOrTime):
        keys("courses", weekday="Monday")
    with pytest.raises(WhenUnclear):
        keys("timetables", weekday="someday")
    with pytest.raises(UnknownKind, match="timetables"):
        keys("pets")


def test_what_is_not_found_tells_what_is_nearest(campus: None) -> None:
    found = find(Record.objects.all(), kind_named("courses"), text="quantum networking")

    assert not found.records
    assert "NET-201 Computer networks" in found.nearest


async def test_records_come_as_passages_and_relations_as_facts(
    campus: None, alice: User
) -> None:
    evidence = await Records(alice, None).lookup("courses", text="NET-201")

    (passage,) = evidence.passages
    record = await db(Record.objects.get)(key="NET-201")
    assert (passage.id, passage.kind) == (f"record:{record.pk}", "record")
    assert passage.title == "Course NET-201 Computer networks"
    assert "Teacher: Dr. Maria Weber\nCredits: 6" in passage.text
    assert (passage.location, passage.url) == (
        "Courses",
        f"/directory/records/{record.pk}/",
    )
    assert evidence.value["found"] == 1
    assert evidence.value["records"][0]["cite"] == passage.id
    assert "Dr. Maria Weber · Office: B-204 Networking lab" in evidence.facts
    # The teacher's room is no text of the course.
    assert "B-204" not in passage.text


async def test_a_long_list_is_cut_and_says_how_many_there_are(
    transactional_db: None, alice: User
) -> None:
    rows = "\n".join(f"C-{at:03},Course number {at}" for at in range(120))
    await db(load)("courses", f"code,name\n{rows}")

    evidence = await Records(alice, None).lookup("courses", limit=500)

    assert (evidence.value["found"], evidence.value["shown"]) == (120, 50)
    assert len(evidence.passages) == 50


async def test_a_run_sees_the_sites_records_and_its_projects(
    campus: None, lab: Project, server: Server, alice: User, bob: User
) -> None:
    other = await db(Project.objects.create)(
        server=server, project_id="33333333-3333-4333-8333-333333333333", name="Other"
    )
    await db(Membership.objects.create)(project=other, user=alice, role=Role.VIEWER)
    await db(load)("courses", "code,name\nLAB-1,Of the lab", lab)
    await db(load)("courses", "code,name\nOTH-1,Of the other", other)

    async def seen(user: User, project: Project | None) -> set[str]:
        evidence = await Records(user, project).lookup("courses")
        return {one["title"].split()[0] for one in evidence.value["records"]}

    site = {"NET-201", "NET-301", "PHY-101"}
    assert await seen(alice, lab) == {*site, "LAB-1"}
    assert await seen(alice, None) == {*site, "LAB-1", "OTH-1"}
    assert await seen(bob, None) == site
    # Bob is no member, whatever conversation he is in.
    assert await seen(bob, lab) == site


async def test_a_reference_into_a_strangers_project_is_no_fact(
    campus: None, lab: Project, alice: User, bob: User
) -> None:
    await db(load)("faculty", "id,name\nsecret,Sally Secret", lab)
    await db(load)("courses", "code,name,teacher\nX-1,Hidden teacher,secret")

    mine = await Records(alice, lab).lookup("courses", text="X-1")
    his = await Records(bob, None).lookup("courses", text="X-1")

    assert "Sally Secret" in mine.passages[0].text
    assert "Sally" not in his.passages[0].text
    assert his.facts == []
