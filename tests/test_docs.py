"""The documents keep their promises."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from chat.events.vocabulary import EVENT_TYPES, Event

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EVENTS = (ROOT / "docs/events.md").read_text()
README = (ROOT / "README.md").read_text()
# Of the system or of tools, not settings of ours.
FOREIGN = {"PATH", "XDG_RUNTIME_DIR", "DJANGO_SETTINGS_MODULE"}


def settings_read() -> set[str]:
    """Names of environment variables that settings, launcher and Procfile read."""
    settings = (ROOT / "copilot_site/settings.py").read_text()
    found = set(re.findall(r'env\.\w+\(\s*"([A-Z0-9_]+)"', settings))
    for path in (ROOT / "scripts/launcher").glob("*.py"):
        text = path.read_text()
        found |= set(re.findall(r'environ\.get\("([A-Z0-9_]+)"', text))
        found |= set(re.findall(r'"([A-Z]+_PASSWORD)"', text))
    found |= set(re.findall(r"\$\{?([A-Z0-9_]+)", (ROOT / "Procfile").read_text()))
    return found - FOREIGN


def section(event_type: str) -> str:
    parts = EVENTS.split(f"\n### `{event_type}`\n")
    assert len(parts) == 2, f"docs/events.md has no section {event_type}"
    return re.split(r"\n##+ ", parts[1])[0]


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in plain}


def test_there_are_settings_to_look_for() -> None:
    assert {"DATA_DIR", "LLM_BASE_URL", "DEMO_LAB", "PORT"} <= settings_read()


def test_every_setting_is_in_the_readme() -> None:
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", README, re.MULTILINE))

    assert settings_read() - documented == set()


def test_the_readme_has_no_setting_that_nobody_reads() -> None:
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", README, re.MULTILINE))

    assert documented - settings_read() == set()


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_every_event_is_described_with_its_fields(kind: type[Event]) -> None:
    text = section(kind.type)

    for field in dataclasses.fields(kind):
        assert re.search(rf"\b{field.name}\b", text), field.name


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_the_example_of_every_event_is_one(kind: type[Event]) -> None:
    found = re.search(r"```json\n(.+?)\n```", section(kind.type), re.DOTALL)

    assert found, "no example"
    example = json.loads(found[1])
    assert example.pop("type") == kind.type
    assert set(example) == {field.name for field in dataclasses.fields(kind)}


def test_no_event_is_described_that_does_not_exist() -> None:
    assert set(re.findall(r"^### `(\w+)`", EVENTS, re.MULTILINE)) == set(EVENT_TYPES)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.name))
def test_every_file_that_a_document_names_exists(path: Path) -> None:
    folders = "chat|copilot_site|projects|llmconfig|scripts|tests|static|docs"
    names = re.findall(rf"`((?:{folders})/[\w./-]*\w/?)`", path.read_text())

    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.name))
def test_every_link_between_documents_resolves(path: Path) -> None:
    broken = []
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", path.read_text()):
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        is_there = linked.exists()
        if is_there and anchor:
            is_there = anchor in anchors(linked.read_text())
        if not is_there:
            broken.append(target)

    assert broken == []


def test_the_flow_of_the_readme_has_eight_files() -> None:
    flow = README.split("## How one question travels")[1].split("\n## ")[0]

    assert len(re.findall(r"^\d\. `[\w./]+`", flow, re.MULTILINE)) == 8


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("docs/adr/*.md")), ids=lambda p: p.stem
)
def test_a_decision_is_short_and_decides(path: Path) -> None:
    text = path.read_text()

    assert len(text.split()) <= 400
    assert "We will" in text


def test_the_pictures_of_the_readme_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())

    assert len(pictures) == 2
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 300_000
