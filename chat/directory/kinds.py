"""The kinds of record that are shipped, and what their fields are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

FieldType = Literal[
    "text", "number", "weekday", "time", "date", "email", "reference", "list"
]
FIELD_TYPES: tuple[FieldType, ...] = get_args(FieldType)


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a kind. `kind` says what a reference points to, by its key."""

    name: str
    label: str
    type: FieldType = "text"
    kind: str = ""
    is_key: bool = False
    is_name: bool = False

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(
            name=value["name"],
            label=value.get("label") or value["name"],
            type=value.get("type", "text"),
            kind=value.get("kind", ""),
            is_key=bool(value.get("is_key")),
            is_name=bool(value.get("is_name")),
        )

    def as_json(self) -> dict[str, Any]:
        """Only what differs from a plain text column."""
        value: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "type": self.type,
        }
        if self.kind:
            value["kind"] = self.kind
        if self.is_key:
            value["is_key"] = True
        if self.is_name:
            value["is_name"] = True
        return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A shipped kind: `singular` names one record, `label` many.

    `words` are what else people call them: they say which kind, not which record.
    """

    slug: str
    label: str
    singular: str
    words: str
    fields: Sequence[Field]


def _key(name: str, label: str) -> Field:
    return Field(name, label, is_key=True)


def _name(name: str, label: str) -> Field:
    return Field(name, label, is_name=True)


def _reference(name: str, label: str, kind: str) -> Field:
    return Field(name, label, "reference", kind=kind)


SHIPPED: tuple[Kind, ...] = (
    Kind(
        "departments",
        "Departments",
        "Department",
        "department institute abteilung fachbereich institut 系 部门 院系",
        (
            _key("code", "Code"),
            _name("name", "Name"),
            _reference("head", "Head", "faculty"),
            Field("building", "Building"),
            _reference("office", "Office", "facilities"),
            Field("phone", "Phone"),
            Field("email", "Email", "email"),
            Field("description", "Description"),
        ),
    ),
    Kind(
        "faculty",
        "Faculty",
        "Person",
        "faculty lecturer professor teacher staff people person instructor dozent "
        "dozentin lehrer lehrende 教师 老师",
        (
            _key("id", "Id"),
            _name("name", "Name"),
            Field("role", "Role"),
            _reference("department", "Department", "departments"),
            _reference("office", "Office", "facilities"),
            Field("email", "Email", "email"),
            Field("phone", "Phone"),
            Field("office_day", "Office hours: day", "weekday"),
            Field("office_start", "Office hours: from", "time"),
            Field("office_end", "Office hours: to", "time"),
            Field("subjects", "Subjects", "list"),
        ),
    ),
    Kind(
        "facilities",
        "Facilities",
        "Room",
        "facility facilities room raum einrichtung 房间 教室 设施",
        (
            _key("code", "Room"),
            _name("name", "Name"),
            Field("type", "Type"),
            Field("building", "Building"),
            Field("floor", "Floor"),
            Field("capacity", "Capacity", "number"),
            Field("equipment", "Equipment", "list"),
            _reference("department", "Department", "departments"),
            _reference("contact", "Contact", "faculty"),
            Field("opens", "Opens", "time"),
            Field("closes", "Closes", "time"),
        ),
    ),
    Kind(
        "courses",
        "Courses",
        "Course",
        "course class module subject kurs lehrveranstaltung modul 课程 课",
        (
            _key("code", "Code"),
            _name("name", "Name"),
            _reference("department", "Department", "departments"),
            _reference("teacher", "Teacher", "faculty"),
            Field("credits", "Credits", "number"),
            Field("semester", "Semester"),
            Field("level", "Level"),
            Field("language", "Language"),
            Field("prerequisites", "Prerequisites", "list"),
            Field("description", "Description"),
        ),
    ),
    Kind(
        "timetables",
        "Timetables",
        "Class",
        "timetable schedule class lecture stundenplan termin veranstaltung "
        "课表 时间表 课",
        (
            _key("id", "Id"),
            _name("title", "Title"),
            _reference("course", "Course", "courses"),
            Field("type", "Type"),
            Field("weekday", "Weekday", "weekday"),
            Field("start", "From", "time"),
            Field("end", "To", "time"),
            _reference("room", "Room", "facilities"),
            _reference("teacher", "Teacher", "faculty"),
            Field("first_day", "First day", "date"),
            Field("last_day", "Last day", "date"),
            Field("notes", "Notes"),
        ),
    ),
)
# In files: one column a field by its `name`; references hold the other record's key
# (courses.teacher = faculty.id, timetables.room = facilities.code); list items are
# separated by ";" in CSV and are arrays in JSON; weekday "Monday", times "10:00" on
# 24 hours, dates "2026-10-12". Only key and name are required.
