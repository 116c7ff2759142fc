"""What is wrong with a profile is said with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.profiles.definition import ProfileInvalid, as_text, checked, parse
from chat.profiles.placeholders import FOREIGN, NAMES, faults_of, fill, used_in
from tests.chat.profiles.test_loading import definition

SHIPPED = sorted(Path("profiles").resolve().glob("[!s]*.json"))


def faults(**changes: Any) -> str:
    with pytest.raises(ProfileInvalid) as caught:
        checked(definition(**changes))
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompt": "In {place}"}, "prompt: {place} is no placeholder. Known: {date}"),
        ({"prompt": ["Fine.", "{x}"]}, "prompt[1]: {x} is no placeholder"),
        ({"prompt": "{user.password}"}, "prompt: {user.password} is no placeholder"),
        ({"prompt": "{date:>9}"}, "prompt: {date} takes no format"),
        ({"prompt": "{user!r}"}, "prompt: {user} takes no format"),
        ({"prompt": "a { b"}, "prompt: "),
        ({"prompt": ""}, "prompt: "),
        ({"tools": {"fly": {}}}, "tools: “fly” is no tool. Known: read_topology"),
        (
            {"tools": {"query_data": {"rows": 5}}},
            "tools.query_data: “rows” is no key. Known: row_limit, time_limit.",
        ),
        ({"tools": {"query_data": {"row_limit": 0}}}, "tools.query_data.row_limit: "),
        ({"tools": {"forget": {"x": 1}}}, "tools.forget: “x” is no setting"),
        ({"approval": "maybe"}, "approval: "),
        ({"colour": "red"}, "profile: “colour” is no key"),
        ({"title": {"de": "Nur deutsch"}}, "title: “en” is missing"),
        ({"languages": ["en", "de"]}, "title: the text for “de” is missing"),
        ({"languages": ["en", "fr"]}, "languages[1]: "),
        ({"operations": {"chat": {"mode": "slow"}}}, "operations.chat.mode: "),
        ({"operations": {"dance": {}}}, "operations: “dance” is no key"),
        ({"slug": "Not a slug"}, "slug: "),
        ({"collections": "all"}, "collections: "),
    ],
)
def test_a_fault_is_told_with_its_place(changes: dict[str, Any], said: str) -> None:
    assert said in faults(**changes)


def test_all_faults_are_told_at_once() -> None:
    told = faults(approval="maybe", colour="red")

    assert "approval: " in told
    assert "colour" in told


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_profile_reads_the_same_after_an_edit(path: Path) -> None:
    found = parse(path.read_text())

    assert parse(as_text(found)) == found
    assert found["slug"] == path.stem


def test_only_the_lab_profile_changes_anything() -> None:
    changing = {"create_nodes", "create_links", "start_nodes", "stop_nodes"}
    for path in SHIPPED:
        found = json.loads(path.read_text())
        changes = changing & found["tools"].keys()

        assert bool(changes) == (found["slug"] == "lab")
        assert found["approval"] == ("ask" if changes else "never_change")


def test_every_placeholder_is_filled() -> None:
    prompt = " ".join(f"{{{name}}}" for name in NAMES)

    text = fill(prompt, {name: f"the {name}" for name in NAMES})

    assert used_in(prompt) == set(NAMES)
    assert all(f"the {name}" in text for name in NAMES)


def test_what_is_not_known_is_said() -> None:
    assert fill("{project} {topology}", {}) == "(no lab) (not known now)"


def test_braces_can_be_written() -> None:
    assert faults_of("{{a}}") == []
    assert fill("{{a}}", {}) == "{a}"


@given(st.sampled_from(FOREIGN), st.text(min_size=1))
def test_what_others_wrote_cannot_leave_its_tags(name: str, value: str) -> None:
    text = fill(f"before {{{name}}} after", {name: value})

    tag = text.split("</")[-1].split(">")[0] if "</" in text else ""
    assert tag.startswith(name)
    # Once around the value, once where the model is told what such tags mean.
    assert text.count(f"</{tag}>") == 2
    assert text.index(f"<{tag}>") < text.index(f"</{tag}>")


def test_a_value_is_not_filled_again() -> None:
    assert "{date}" in fill("{user}", {"user": "{date}", "date": "Monday"})
