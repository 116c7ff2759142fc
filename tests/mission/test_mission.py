"""The tests that docs/mission.md names are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (S\d[^|]*) \|[^|]+\| `([\w./]+)::(\w+)` \|$",
    (ROOT / "docs/mission.md").read_text(),
    re.MULTILINE,
)


def test_there_are_rows() -> None:
    lines = (ROOT / "docs/mission.md").read_text().splitlines()

    assert len(ROWS) == sum(line.startswith("| S") for line in lines) > 60


def test_no_behaviour_is_missing() -> None:
    text = (ROOT / "docs/mission.md").read_text()
    # What was not taken on is named in brackets.
    brackets = " ".join(re.findall(r"\((S\d-[^)]*)\)", text))
    named = set(re.findall(r"S\d-\d+", brackets))
    for row, _, _ in ROWS:
        for part in row.split(", "):
            first, _, last = part.partition(" to ")
            seed, start = first.split("-")
            end = last.split("-")[1] if last else start
            named |= {f"{seed}-{n:03}" for n in range(int(start), int(end) + 1)}

    counts = {"S1": 153, "S2": 42, "S3": 77}
    wanted = {
        f"{seed}-{n:03}" for seed, many in counts.items() for n in range(1, many + 1)
    }
    assert wanted - named == set()


def test_no_row_stands_twice() -> None:
    names = [name for row, _, _ in ROWS for name in re.findall(r"S\d-\d+", row)]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(("row", "file", "name"), ROWS, ids=[row for row, *_ in ROWS])
def test_the_test_of_a_row_exists(row: str, file: str, name: str) -> None:
    text = (ROOT / file).read_text()

    assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)
