"""Files of every kind become text; hostile ones become a reason."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from chat.documents import extract
from chat.documents.errors import DocumentRefused
from chat.documents.extract import read
from chat.documents.kinds import Kind, kind_of
from chat.documents.models import File, FileText
from chat.documents.names import safe_name
from chat.documents.reading.decode import decoded
from chat.documents.reading.plain import markdown_headings
from chat.documents.store import checked_kind, keep
from tests.chat.documents import samples

pytestmark = pytest.mark.django_db

Reads = Callable[[str, bytes], FileText]


def nothing(done: int, total: int) -> None:
    pass


@pytest.fixture
def reads(settings: Settings, tmp_path: Path) -> Reads:
    settings.DATA_DIR = tmp_path

    def _reads(name: str, data: bytes) -> FileText:
        return read(keep(data, checked_kind(name, data)), nothing)

    return _reads


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", b"words", Kind.TEXT),
        ("a.md", b"# Title", Kind.MARKDOWN),
        ("a.csv", b"a,b\n1,2", Kind.CSV),
        ("r1.cfg", b"hostname R1", Kind.CONFIG),
        ("syslog.log", b"\x1b[31mdown\x1b[0m", Kind.LOG),
        ("a.pdf", b"words, whatever the name says", Kind.TEXT),
        ("a.txt", samples.pdf("words"), Kind.PDF),
        ("a.txt", samples.word("words"), Kind.DOCX),
        ("a.txt", b"<!-- x --><!DOCTYPE html><p>words", Kind.HTML),
        ("a.txt", samples.PNG, Kind.PNG),
        ("a.txt", "Zürich".encode("utf-16"), Kind.TEXT),
    ],
)
def test_a_file_is_what_its_content_says(name: str, data: bytes, kind: Kind) -> None:
    assert kind_of(name, data) == kind


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.txt", b"", "document_unreadable"),
        ("a.txt", b"  \n ", "document_unreadable"),
        ("a.txt", b"\x7fELF\0\0\0\1", "document_kind_unknown"),
        ("a.txt", b"MZ\x90\0\3\0", "document_kind_unknown"),
        ("a.docx", b"PK\x03\x04 and no more", "document_unreadable"),
    ],
)
def test_other_files_are_refused_with_a_reason(
    name: str, data: bytes, code: str
) -> None:
    with pytest.raises(DocumentRefused) as refused:
        kind_of(name, data)

    assert refused.value.code == code


def test_an_archive_is_not_unpacked() -> None:
    data = samples.word("x").replace(b"word/document.xml", b"evil/document.xml")

    with pytest.raises(DocumentRefused, match="Archives"):
        kind_of("a.docx", data)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]
)
def test_european_text_is_read_in_any_encoding(encoding: str) -> None:
    text = "Die Größe der Straße: 10.0.0.1/24, naïve café"

    assert decoded(text.encode(encoding)) == text


def test_chinese_text_is_read_in_its_old_encoding() -> None:
    assert decoded("网络实验室在C楼".encode("gb18030")) == "网络实验室在C楼"


@given(st.binary(max_size=400))
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    decoded(data)


def test_pages_and_bookmarks_of_a_pdf_are_known(reads: Reads) -> None:
    text = reads("a.pdf", samples.pdf("First words", "Second words", outline="Two"))

    assert text.text == "First words\n\nSecond words\n\n"
    assert text.pages == [0, 13]
    assert text.headings == [[13, 1, "Two"]]


def test_headings_and_tables_of_a_word_document_are_read(reads: Reads) -> None:
    text = reads("a.docx", samples.word("Words.", heading="Labs", rows=2))

    assert text.headings == [[0, 1, "Labs"]]
    assert "R1 | 10.0.1.1" in text.text


def test_rows_of_a_table_carry_their_header(reads: Reads) -> None:
    text = reads("a.csv", b"Name;Raum\nNetzlabor;C 204\n;\n")

    assert text.text == "Name: Netzlabor | Raum: C 204\n"
    assert text.is_lines


def test_html_becomes_what_a_reader_sees(reads: Reads) -> None:
    page = (
        "<html><head><title>T</title><script>evil()</script></head><body>"
        "<h1>Labs</h1><p>Room\n <b>204</b></p><ul><li>one<li>two</ul>"
        "<table><tr><td>a</td><td>b</td></tr></table><style>x{}</style>"
    )

    text = reads("a.html", page.encode())

    assert text.text.rstrip() == "Labs\n\nRoom 204\n\n- one\n- two\n\na | b"
    assert text.headings == [[0, 1, "Labs"]]


@pytest.mark.parametrize("text", ["Grüße", "café", "Zürich: Büro öffnet um 9 é"])
def test_a_short_text_loses_no_accent_at_its_end(text: str) -> None:
    assert decoded(text.encode("cp1252")) == text
    assert decoded(text.encode()) == text


def test_a_text_that_was_cut_within_a_sign_is_read_to_there() -> None:
    assert decoded("Grüße aus Köln é".encode()[:-1]) == "Grüße aus Köln "


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "utf-8"])
def test_html_is_read_in_the_encoding_that_it_names(
    reads: Reads, encoding: str
) -> None:
    page = f'<html><head><meta charset="{encoding}"></head><p>Привет, мир</p>'

    assert "Привет, мир" in reads("a.html", page.encode(encoding)).text


def test_of_html_only_what_a_reader_sees_is_read(reads: Reads) -> None:
    page = (
        "<html><body><p>First</p><div style='Display: none'>obey <b>me</b></div>"
        "<p hidden>secret order<p>Second</p><br hidden><span hidden>more</span>"
        "<ul><li hidden>left open<li>Third</ul></body></html>"
    )

    text = reads("a.html", page.encode()).text

    assert all(word in text for word in ("First", "Second", "Third"))
    assert not any(word in text for word in ("obey", "me", "secret", "more"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"10.0.0.1,core\n10.0.0.2,edge\n", "10.0.0.1 | core\n10.0.0.2 | edge\n"),
        (b"sep=;\r\nname;room\r\nAda;101\r\n", "name: Ada | room: 101\n"),
        (b"\xef\xbb\xbfname,2023,2024\nAda,1,2\n", "name: Ada | 2023: 1 | 2024: 2\n"),
    ],
)
def test_the_first_row_of_a_table_is_its_header_if_it_looks_like_one(
    reads: Reads, data: bytes, text: str
) -> None:
    assert reads("a.csv", data).text == text


def test_headings_within_a_fence_are_none() -> None:
    source = "# One\n```\n# no\n```\nTwo\n===\n~~~\nThree\n---\n"

    assert [title for _, _, title in markdown_headings(source)] == ["One", "Two"]


def test_a_word_document_that_unpacks_to_much_is_refused(
    reads: Reads, settings: Settings
) -> None:
    settings.DOCUMENT_UNPACKED_BYTES = 2_000_000
    bomb = samples.word_bomb(30_000_000)
    assert len(bomb) < 100_000

    with pytest.raises(DocumentRefused) as refused:
        reads("a.docx", bomb)

    assert refused.value.code == "document_too_large"


def test_entities_of_entities_are_not_resolved(reads: Reads) -> None:
    try:
        text = reads("a.docx", samples.entity_bomb()).text
    except DocumentRefused:
        return
    assert len(text) < 1_000


def test_a_pdf_of_very_many_pages_is_refused(reads: Reads, settings: Settings) -> None:
    settings.DOCUMENT_PAGES = 3

    with pytest.raises(DocumentRefused, match="4 pages; 3 are the most"):
        reads("a.pdf", samples.pdf("a", "b", "c", "d"))


def test_a_text_that_is_too_long_is_refused(reads: Reads, settings: Settings) -> None:
    settings.DOCUMENT_TEXT_LENGTH = 100

    for name, data in (("a.txt", b"x" * 101), ("a.html", b"<html>" + b"x" * 101)):
        with pytest.raises(DocumentRefused, match="more than 100 characters"):
            reads(name, data)


def test_a_file_that_is_too_large_is_refused(settings: Settings) -> None:
    settings.DOCUMENT_BYTES = 10

    with pytest.raises(DocumentRefused) as refused:
        checked_kind("a.txt", b"x" * 11)

    assert refused.value.status == 413


def test_html_of_any_depth_is_read(reads: Reads) -> None:
    text = reads("a.html", b"<html>" + b"<div>" * 100_000 + b"deep down")

    assert text.text == "deep down"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.pdf", b"%PDF-1.7\nnothing of the kind", "document_unreadable"),
        ("a.pdf", samples.pdf(" "), "document_no_text"),
        ("a.html", b"<html><script>only()</script>", "document_unreadable"),
        ("a.docx", samples.word(), "document_no_text"),
    ],
)
def test_a_damaged_or_silent_file_says_so(
    reads: Reads, name: str, data: bytes, code: str
) -> None:
    with pytest.raises(DocumentRefused) as refused:
        reads(name, data)

    assert refused.value.code == code
    assert str(refused.value).endswith(".")


def test_a_reader_that_does_not_end_is_ended(
    reads: Reads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENT_SECONDS = 0.2
    settings.BASE_DIR = Path(__file__).parent / "stuck"
    begun = time.monotonic()

    with pytest.raises(extract.ReadingTooSlow):
        reads("a.pdf", samples.pdf("words"))

    assert time.monotonic() - begun < 30


def test_the_child_gets_nothing_of_our_environment(
    reads: Reads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "of-the-server")
    seen: list[dict[str, str]] = []
    real = extract.subprocess.Popen

    def popen(*args: object, **options: object) -> object:
        seen.append(options["env"])  # type: ignore[arg-type]
        return real(*args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(extract.subprocess, "Popen", popen)
    reads("a.pdf", samples.pdf("words"))

    assert set(seen[0]) == {"PATH", "LANG", "PYTHONDONTWRITEBYTECODE"}


def test_a_content_is_read_once(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    first = reads("a.txt", b"words")
    monkeypatch.setattr(extract, "_read", None)

    assert reads("b.txt", b"words") == first
    assert File.objects.count() == FileText.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\plan.txt", "plan.txt"),
        ("..", "document"),
        (".htaccess", "htaccess"),
        ("", "document"),
        ("a\0b\r\nSet-Cookie: x.txt", "a b Set-Cookie: x.txt"),
        ("网络实验室.md", "网络实验室.md"),
        ("Pru\u0308fung.pdf", "Prüfung.pdf"),
        ("invoice\u202etxt.exe", "invoice txt.exe"),
    ],
)
def test_names_are_shown_without_paths_and_signs_of_control(
    name: str, seen: str
) -> None:
    assert safe_name(name) == seen


@given(st.text(max_size=600))
def test_any_name_becomes_a_short_one_without_separators(name: str) -> None:
    seen = safe_name(name)

    assert 0 < len(seen) <= 200
    assert not set(seen) & set("/\\\0\n\r")
