"""Documents come back from a backup: their files, their text, and what finds them."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from chat.documents.models import FileText
from chat.documents.store import path_of
from chat.knowledge.ingest import add_document, delete_document
from chat.knowledge.models import Collection
from chat.knowledge.search import search
from tests.chat.knowledge.conftest import Topics

pytestmark = pytest.mark.database


@pytest.mark.parametrize("form", [[], ["--rows"]], ids=["as it is", "rows"])
def test_a_document_is_found_after_a_restore(
    form: list[str],
    topics: Topics,
    site: Collection,
    settings: Settings,
    tmp_path: Path,
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    document = add_document(site, "a.txt", b"mensa rules")
    stored, digest = path_of(document.file_id), document.file_id
    call_command("backup", tmp_path / "all.zip", *form, stdout=StringIO())
    delete_document(document)
    assert not stored.exists()

    call_command("restore", tmp_path / "all.zip", "--replace", stdout=StringIO())

    assert stored.read_bytes() == b"mensa rules"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert FileText.objects.get(file=digest).text == "mensa rules"
    for question in ("rules", "canteen"):
        [hit] = search(question, collections=Collection.objects.all())
        assert hit.passage.text == "mensa rules"
