import pickle
from typing import Any

import pytest
from django.core import serializers
from django.db import connection

from copilot_site.lib.fields import Unreadable, decrypt, encrypt
from llmconfig.models import LLMConfig

pytestmark = pytest.mark.database

KEY = "sk-a-key-that-nobody-may-see-4711"
OLD, NEW = "old-ring-key-0123456789-0123456789", "new-ring-key-0123456789-0123456789"


@pytest.fixture
def config(transactional_db: None) -> LLMConfig:
    made = LLMConfig.objects.create(
        name="Site", base_url="http://llm/v1", model="m", api_key=KEY
    )
    return LLMConfig.objects.get(pk=made.pk)


def raw() -> bytes:
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM llmconfig_llmconfig")
        return bytes(cursor.fetchone()[0])


def test_the_column_holds_no_key_but_the_model_does(config: LLMConfig) -> None:
    assert config.api_key == KEY
    assert KEY.encode() not in raw()
    assert len(raw()) > len(KEY)


def test_the_same_text_is_never_encrypted_alike() -> None:
    assert encrypt(KEY) != encrypt(KEY)
    assert decrypt(encrypt(KEY)) == KEY


@pytest.mark.parametrize("text", ["", "x", "ключ 😀", "a\nb", "x" * 10_000])
def test_any_text_comes_back(config: LLMConfig, text: str) -> None:
    config.api_key = text
    config.save()

    assert LLMConfig.objects.get().api_key == text


def test_nothing_is_stored_for_nothing(config: LLMConfig) -> None:
    config.api_key = ""
    config.save()

    assert raw() == b""


def test_an_old_key_reads_and_the_new_one_writes(
    config: LLMConfig, settings: Any
) -> None:
    # SEC-03
    settings.ENCRYPTION_KEYS = [OLD]
    config.save()
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    found = LLMConfig.objects.get()
    assert found.api_key == KEY
    found.save()
    settings.ENCRYPTION_KEYS = [NEW]
    assert LLMConfig.objects.get().api_key == KEY


def test_another_secret_key_changes_nothing(config: LLMConfig, settings: Any) -> None:
    # SEC-03
    settings.SECRET_KEY = "rotated" * 10

    assert LLMConfig.objects.get().api_key == KEY


def test_what_cannot_be_read_is_kept_when_the_rest_is_saved(
    config: LLMConfig, settings: Any
) -> None:
    # SEC-02
    before = raw()
    right = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [NEW]
    found = LLMConfig.objects.get()
    assert isinstance(found.api_key, Unreadable)
    assert found.api_key == ""

    found.name = "Renamed"
    found.save()

    assert raw() == before
    settings.ENCRYPTION_KEYS = right
    assert LLMConfig.objects.get().api_key == KEY
    assert LLMConfig.objects.get().name == "Renamed"


def test_what_cannot_be_read_can_be_replaced(config: LLMConfig, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [NEW]
    found = LLMConfig.objects.get()

    found.api_key = "another-key"
    found.save()

    assert LLMConfig.objects.get().api_key == "another-key"


@pytest.mark.parametrize("change", [b"\x00", b"junk", pickle.dumps({"a": 1})])
def test_a_damaged_value_is_unreadable_and_runs_nothing(change: bytes) -> None:
    assert decrypt(change) is None
    assert decrypt(encrypt(KEY)[:-1] + change[:1]) is None


@pytest.mark.parametrize("format", ["json", "python", "xml"])
def test_a_dump_holds_no_key(config: LLMConfig, format: str) -> None:
    dump = str(serializers.serialize(format, [config]))

    assert KEY not in dump
    assert raw().hex() not in dump
