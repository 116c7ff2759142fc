"""Every text of the interface is in every catalogue, translated, and compiled."""

import ast
import gettext
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCALES = ("de", "zh_Hans")
DOMAINS = ("django", "djangojs")
CATALOGUES = [(locale, domain) for locale in LOCALES for domain in DOMAINS]
APPS = ("accounts", "chat", "copilot_site", "llmconfig", "projects")
CALLS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "_"}
# Made for programs and in English, or by others.
FOREIGN_TEMPLATES = ("docs.html", "rest_framework/api.html")
NAMES = {"Copilot", "Copilot API"}
PLACES = re.compile(r"%\(\w+\)[sd]|</?\w+>")


@dataclass
class Entry:
    texts: list[str] = field(default_factory=list)
    translations: list[str] = field(default_factory=list)
    flags: str = ""


def entries(locale: str, domain: str) -> list[Entry]:
    """As far as makemessages writes them."""
    found = [Entry()]
    current: list[str] = []
    for line in catalogue(locale, domain).read_text().splitlines():
        if not line:
            found.append(Entry())
        elif line.startswith("#,"):
            found[-1].flags += line
        elif line.startswith("msgid"):
            current = found[-1].texts
            current.append(quoted(line))
        elif line.startswith("msgstr"):
            current = found[-1].translations
            current.append(quoted(line))
        elif line.startswith('"'):
            current[-1] += quoted(line)
    return [entry for entry in found[1:] if entry.texts]


def catalogue(locale: str, domain: str, suffix: str = "po") -> Path:
    folder = ROOT / "copilot_site" / "locale" / locale / "LC_MESSAGES"
    return folder / f"{domain}.{suffix}"


def quoted(line: str) -> str:
    return str(ast.literal_eval(line[line.index('"') :]))


def texts_of(domain: str) -> set[str]:
    if domain == "djangojs":
        return {text for path in scripts() for text in texts_of_script(path)}
    found = {text for path in templates() for text in texts_of_template(path)}
    modules = (path for app in APPS for path in (ROOT / app).rglob("*.py"))
    return found | {text for path in modules for text in texts_of_module(path)}


def templates() -> list[Path]:
    return sorted((ROOT / "templates").rglob("*.html"))


def scripts() -> list[Path]:
    folder = ROOT / "static"
    return sorted(p for p in folder.rglob("*.js") if folder / "vendor" not in p.parents)


def texts_of_script(path: Path) -> Iterator[str]:
    for found in re.finditer(r'\bn?gettext\(\s*("(?:[^"\\]|\\.)*")', path.read_text()):
        yield str(ast.literal_eval(found[1]))


def texts_of_template(path: Path) -> Iterator[str]:
    text = path.read_text()
    literal = r"""\{%\s*translate\s+("[^"]*"|'[^']*')|=_\("([^"]*)\""""
    for found in re.finditer(literal, text):
        yield found[2] or found[1][1:-1]
    block = r"\{%\s*blocktranslate[^%]*(?:%(?!\})[^%]*)*%\}(.*?)\{%\s*endblocktranslate"
    for found in re.finditer(block, text):
        yield re.sub(r"\{\{ (\w+) \}\}", r"%(\1)s", found[1])


def texts_of_module(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in CALLS
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value)


@pytest.mark.parametrize(("locale", "domain"), CATALOGUES)
def test_a_catalogue_has_the_texts_that_are_used_and_no_others(
    locale: str, domain: str
) -> None:
    known = {entry.texts[0] for entry in entries(locale, domain)} - {""}

    # `make texts` writes them; then they are to be translated.
    assert known == texts_of(domain)


@pytest.mark.parametrize(("locale", "domain"), CATALOGUES)
def test_every_text_is_translated_with_its_places(locale: str, domain: str) -> None:
    for entry in entries(locale, domain)[1:]:
        assert all(entry.translations), entry.texts
        assert "fuzzy" not in entry.flags, entry.texts
        wanted = sorted(PLACES.findall(entry.texts[-1]))
        for text in entry.translations:
            assert sorted(PLACES.findall(text)) == wanted, text


@pytest.mark.parametrize(("locale", "domain"), CATALOGUES)
def test_the_compiled_catalogue_says_the_same(locale: str, domain: str) -> None:
    with catalogue(locale, domain, "mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    for entry in entries(locale, domain)[1:]:
        if len(entry.texts) == 1:
            said = [compiled.gettext(entry.texts[0])]
        else:
            counts = (1, 2) if len(entry.translations) == 2 else (1,)
            said = [compiled.ngettext(*entry.texts, count) for count in counts]
        assert said == entry.translations


def test_templates_hold_no_text_of_their_own() -> None:
    for path in templates():
        if path.relative_to(ROOT / "templates").as_posix() in FOREIGN_TEMPLATES:
            continue
        text = re.sub(r"\{%\s*blocktranslate.*?endblocktranslate", "", path.read_text())
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", text)
        labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]+)"', text)
        shown = re.sub(r"<(?:[^>\"]|\"[^\"]*\")*>", "\n", text).splitlines()
        words = {line.strip(" ·|:/,.") for line in [*labels, *shown]}
        assert {word for word in words if re.search("[A-Za-z]{2}", word)} <= NAMES, path


def test_scripts_hold_no_sentence_that_is_not_translated() -> None:
    literal = r'"(?:[^"\\]|\\.)*"'
    marked = re.compile(rf"\bn?gettext\(\s*{literal}(?:,\s*{literal})?")
    for path in scripts():
        text = re.sub(r"^\s*//.*$", "", marked.sub("", path.read_text()), flags=re.M)
        assert not re.findall(r'["`][A-Z][a-z]+ [a-z$][^"`]*["`]', text), path
