"""Files of records: read whatever wrote them, and brought in whole or not at all."""

import importlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.archive.tables import is_empty
from chat.directory.exporting import as_csv
from chat.directory.importing import ImportHasErrors, apply, preview
from chat.directory.kinds import Field
from chat.directory.lookup import kind_named
from chat.directory.models import Record, RecordKind
from chat.directory.reading import (
    FileTooLarge,
    FileUnreadable,
    Row,
    is_formula,
    read_rows,
)
from chat.directory.values import BadValue, checked
from projects.models import Project
from tests.chat.directory.conftest import load

HEAD = "code,name,credits"


@pytest.mark.parametrize(
    "data",
    [
        "code,name\nA-1,Übung".encode(),
        "code,name\r\nA-1,Übung\r\n".encode(),
        "\ufeffcode;name\nA-1;Übung".encode(),
        "code\tname\nA-1\tÜbung".encode("utf-16"),
        "code,name\nA-1,Übung".encode("cp1252"),
        'code|name|"a, b, c, d"\nA-1|Übung|'.encode(),
        '[{"code": "A-1", "name": "Übung"}]'.encode(),
        '{"records": [{"code": "A-1", "name": "Übung"}]}'.encode(),
        '\ufeff{"code": "A-1", "name": "Übung"}'.encode(),
        "\n\ncode,name,,\n\nA-1,Übung,,\n".encode(),
        "sep=;\r\ncode;name\r\nA-1;Übung\r\n".encode(),
    ],
)
def test_encodings_marks_and_delimiters_are_found_out(data: bytes) -> None:
    (row,) = read_rows(data)

    assert {key: row.values[key] for key in ("code", "name")} == {
        "code": "A-1",
        "name": "Übung",
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"  \n ",
        b"code,name\n",
        b"[]",
        b"[1]",
        b'{"records": 3}',
        b'[{"code": ',
        b"code,code\n1,2",
        b"PK\x03\x04\x00\x00binary",
        "code,name".encode("utf-16")[:-1],
        b"[" * 100_000,
    ],
)
def test_what_is_no_file_of_records_is_refused(data: bytes) -> None:
    with pytest.raises(FileUnreadable):
        read_rows(data)


@pytest.mark.parametrize(
    "data",
    [
        b"x" * (5 * 1024 * 1024 + 1),
        b"code,name\n" + b"1,2\n" * 10_001,
        b",".join(b"c%d" % at for at in range(101)) + b"\n1",
    ],
)
def test_sizes_have_limits(data: bytes) -> None:
    with pytest.raises(FileTooLarge):
        read_rows(data)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    try:
        rows = read_rows(data)
    except (FileUnreadable, FileTooLarge):
        return
    assert all(isinstance(row.values, dict) for row in rows)


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("text", "  Two \r\n lines ", "Two\nlines"),
        ("text", 7, "7"),
        ("number", "2,5", 2.5),
        ("number", "6.0", 6),
        ("weekday", "mo, Mittwoch", "Monday, Wednesday"),
        ("time", "2 pm", "14:00"),
        ("time", "08:30:00", "08:30"),
        ("date", "12.10.2026", "2026-10-12"),
        ("date", "2026-10-12 00:00:00", "2026-10-12"),
        ("list", "a; b ;;c", ["a", "b", "c"]),
        ("list", ["a", 2], ["a", "2"]),
        ("email", "a@b.example", "a@b.example"),
        ("text", None, ""),
        ("number", " ", ""),
    ],
)
def test_values_are_written_in_one_way(kind: Any, raw: Any, value: Any) -> None:
    assert checked(Field("f", "F", kind), raw) == value


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("number", "many"),
        ("number", float("nan")),
        ("number", "1e999"),
        ("weekday", "someday"),
        ("weekday", "Monday 10:00"),
        ("weekday", "today"),
        ("time", "10-12"),
        ("time", "Monday"),
        ("date", "31.02.2026"),
        ("date", "10/12/2026"),
        ("email", "nobody"),
        ("text", {"a": 1}),
        ("text", "x" * 4001),
        ("list", [["a"]]),
    ],
)
def test_values_that_do_not_fit_are_refused(kind: Any, raw: Any) -> None:
    with pytest.raises(BadValue):
        checked(Field("f", "F", kind), raw)


def test_a_file_makes_changes_and_leaves(transactional_db: None) -> None:
    load("courses", f"{HEAD},semester\nA-1,Old name,5,Winter\nA-2,Same,3,")

    seen = preview(
        read_rows(f"{HEAD}\na-1,New name,6\nA-2,Same,3\nA-3,New,".encode()),
        kind_named("courses"),
    )
    apply(seen, source="second.csv")

    assert [row.state for row in seen.rows[1:]] == ["same", "new"]
    first = Record.objects.get(key="a-1")
    assert (first.name, first.source) == ("New name", "second.csv")
    # A column that the file has not stays as it is.
    assert first.data == {"credits": 6, "semester": "Winter"}
    assert Record.objects.count() == 3


def test_an_empty_cell_clears_a_value(transactional_db: None) -> None:
    load("courses", f"{HEAD}\nA-1,One,5")

    load("courses", f"{HEAD}\nA-1,One,")

    assert Record.objects.get().data == {}


def test_each_row_tells_its_errors_and_nothing_is_written(
    transactional_db: None,
) -> None:
    text = (
        f"{HEAD},colour\nA-1,One,5,\n,Two,6,\nA-1,Twice,7,\nA-4,Four,many,red\nA-5,,,"
    )

    seen = preview(read_rows(text.encode()), kind_named("courses"))

    errors = {row.number: row.errors for row in seen.rows}
    assert errors[3] == ["there is no field “colour”"]
    assert errors[4][-1] == "“A-1” stands in row 2 already"
    assert errors[5] == ["credits: “many” is no number", "there is no field “colour”"]
    with pytest.raises(ImportHasErrors, match="Row 2"):
        apply(seen)
    assert not Record.objects.exists()


def test_a_key_and_a_name_are_needed(transactional_db: None) -> None:
    seen = preview(
        read_rows(f"{HEAD}\n,No key,1\nA-2,,2".encode()), kind_named("courses")
    )

    assert [row.errors for row in seen.rows] == [
        ["code: is missing"],
        ["name: is missing"],
    ]


def test_a_reference_that_is_not_there_yet_is_a_warning(campus: None) -> None:
    seen = preview(
        read_rows(b"code,name,teacher\nA-1,One,mweber\nA-2,Two,nobody"),
        kind_named("courses"),
    )

    assert not seen.problems
    assert [row.warnings for row in seen.rows] == [
        [],
        ["teacher: “nobody” is not in faculty yet"],
    ]


def test_a_projects_records_are_its_own(campus: None, lab: Project) -> None:
    load("courses", f"{HEAD}\nNET-201,Networks of the lab,1", lab)

    assert Record.objects.filter(key="NET-201").count() == 2
    assert Record.objects.get(key="NET-201", project=None).name == "Computer networks"


def test_one_failing_row_undoes_all(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("courses", f"{HEAD}\nA-1,One,5")
    seen = preview(
        read_rows(f"{HEAD}\nA-1,Changed,6\nA-2,New,1".encode()), kind_named("courses")
    )

    def breaks(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr(type(Record.objects.all()), "bulk_update", breaks)
    with pytest.raises(RuntimeError):
        apply(seen)

    assert [record.name for record in Record.objects.all()] == ["One"]


CELL = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=20
).map(lambda text: " ".join(text.split()))
RECORDS = st.dictionaries(
    CELL.filter(bool), st.tuples(CELL.filter(bool), CELL), min_size=1, max_size=5
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(RECORDS)
def test_what_is_exported_is_imported_unchanged(
    transactional_db: None, rows: dict[str, tuple[str, str]]
) -> None:
    Record.objects.all().delete()
    kind = kind_named("courses")
    values = [
        Row(at, {"code": key, "name": name, "description": text})
        for at, (key, (name, text)) in enumerate(rows.items())
    ]
    seen = preview(values, kind)
    if seen.problems:
        # Two keys that differ in case alone.
        return
    apply(seen)

    text = as_csv(kind, Record.objects.all())
    again = preview(read_rows(text.encode()), kind)

    assert {row.state for row in again.rows} == {"same"}
    assert len(again.rows) == len(rows)


def test_no_cell_of_an_export_is_a_formula(transactional_db: None) -> None:
    kind = kind_named("faculty")
    rows = [{"id": "1", "name": "=HYPERLINK(1)", "phone": "+49 1", "role": "@x"}]
    apply(preview([Row(1, row) for row in rows], kind))

    text = as_csv(kind, Record.objects.all())

    cells = text.splitlines()[1].split(",")
    assert [cell for cell in cells if is_formula(cell) and cell[0] != "'"] == []
    assert "'=HYPERLINK(1)" in cells


def test_the_command_imports_or_says_why_not(
    transactional_db: None, tmp_path: Path
) -> None:
    path = tmp_path / "courses.json"
    path.write_text(json.dumps([{"code": "A-1", "name": "One", "credits": 5}]))
    out = StringIO()

    call_command("import_records", "courses", path, "--dry-run", stdout=out)
    assert not Record.objects.exists()
    call_command("import_records", "courses", path, stdout=out)

    assert Record.objects.get().data == {"credits": 5}
    assert "1 new, 0 changed, 0 same" in out.getvalue()
    path.write_text('[{"code": "A-2", "name": "Two", "credits": "x"}]')
    with pytest.raises(CommandError, match="Row 1: credits"):
        call_command("import_records", "courses", path)
    for wrong in (["pets", path], ["courses", tmp_path / "none.csv"]):
        with pytest.raises(CommandError):
            call_command("import_records", *wrong)


@pytest.mark.django_db
def test_the_shipped_kinds_are_there_after_migrating() -> None:
    # Other tests may have emptied the table since.
    name = "chat.directory.migrations.0002_fill_shipped_kinds"
    importlib.import_module(name).fill(apps, None)

    kinds = {kind.slug: kind for kind in RecordKind.objects.filter(is_shipped=True)}

    assert set(kinds) == {
        "courses",
        "departments",
        "facilities",
        "faculty",
        "timetables",
    }


def test_a_migrated_database_is_empty_enough_for_a_restore(
    transactional_db: None,
) -> None:
    kind_named("courses")
    assert is_empty()

    load("courses", "code,name\nA-1,One")

    assert not is_empty()


@pytest.mark.parametrize(
    ("value", "problem"),
    [(10**400, "not a number"), ("1,234", "two numbers"), ("1e999", "no number")],
)
def test_a_number_that_is_none_or_two_is_told(value: Any, problem: str) -> None:
    with pytest.raises(BadValue, match=problem):
        checked(Field("seats", "Seats", "number"), value)


def test_a_field_in_two_columns_is_told(transactional_db: None) -> None:
    rows = read_rows(b"code,name,Name\nA-1,Networks,Security\n")

    assert preview(rows, kind_named("courses")).problems == [
        "Row 2: name: stands in two columns"
    ]


def test_a_key_from_two_programs_is_one_key(transactional_db: None) -> None:
    rows = read_rows("code,name\n\u00e91,Networks\ne\u03011,Security\n".encode())

    (problem,) = preview(rows, kind_named("courses")).problems
    assert "stands in row 2 already" in problem


def test_a_name_is_shown_in_the_order_that_it_has() -> None:
    assert checked(Field("name", "Name", is_name=True), "A\u202eB\ufeff") == "AB"
