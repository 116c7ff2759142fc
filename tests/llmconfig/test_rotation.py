"""Keys change without losing a secret; what cannot be read is never touched."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import Tags, run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from chat.models import Run
from copilot_site.lib.fields import Unreadable, opened
from llmconfig import rotation
from llmconfig.models import LLMConfig
from projects.models import Project, Server
from tests.chat.support import make_run, make_session

pytestmark = pytest.mark.database

OLD = "old-key-of-the-tests-alone-0123456789abc"
NEW = "new-key-of-the-tests-alone-0123456789abc"
KEY = "sk-test-0123456789-wxyz"


def rotated(*arguments: str) -> str:
    told = io.StringIO()
    call_command("rotate_keys", *arguments, stdout=told, stderr=told)
    return told.getvalue()


def stored() -> list[bytes]:
    """All encrypted values as the database holds them."""
    found = []
    for column in rotation.encrypted_columns():
        name, table = column.name, column.model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {name} FROM {table} ORDER BY 1")
            found += [bytes(row[0]) for row in cursor.fetchall() if row[0]]
    return found


@pytest.fixture
def filled(settings: Settings, lab: Project, alice: User) -> list[bytes]:
    """Secrets of several apps, written with the old key."""
    settings.ENCRYPTION_KEYS = [OLD]
    Server.objects.filter(pk=lab.server_id).update(password="of-gns3")
    make_run(make_session(alice, lab), secrets="a-token")
    for number in range(7):
        LLMConfig.objects.create(
            name=str(number), base_url="http://m/v1", model="m", api_key=KEY
        )
    LLMConfig.objects.create(name="keyless", base_url="http://m/v1", model="m")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    return stored()


def test_all_that_is_encrypted_is_known() -> None:
    names = {str(column) for column in rotation.encrypted_columns()}

    assert {
        "llmconfig.LLMConfig.api_key",
        "projects.Server.password",
        "chat.Run.secrets",
    } <= names


def test_a_filled_database_moves_to_the_new_key(
    filled: list[bytes], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "BATCH", 3)

    told = rotated()

    assert "llmconfig.LLMConfig.api_key: 7 renewed, 0 up to date" in told
    assert "Older keys are no longer needed." in told
    settings.ENCRYPTION_KEYS = [NEW]
    assert {config.api_key for config in LLMConfig.objects.all()} == {KEY, ""}
    assert Server.objects.get().password == "of-gns3"
    assert Run.objects.get().secrets == "a-token"
    assert all(opened(token)[0] == 0 for token in stored())


def test_a_second_time_nothing_is_written(filled: list[bytes]) -> None:
    rotated()
    before = stored()

    told = rotated()

    assert "0 renewed, 7 up to date" in told
    assert stored() == before


def test_a_dry_run_writes_nothing(filled: list[bytes]) -> None:
    told = rotated("--dry-run")

    assert "7 would be renewed" in told
    assert "Nothing was written." in told
    assert stored() == filled


def test_what_no_key_opens_is_left_and_listed(
    filled: list[bytes], settings: Settings
) -> None:
    config = LLMConfig.objects.order_by("pk").first()
    assert config is not None
    settings.ENCRYPTION_KEYS = ["a-key-that-is-lost-0123456789-0123456789"]
    config.api_key = "lost"
    config.save()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    [lost] = [token for token in stored() if opened(token)[1] is None]
    told = io.StringIO()

    with pytest.raises(CommandError, match="left as they are"):
        call_command("rotate_keys", stdout=told, stderr=told)

    assert f"LLMConfig.api_key: unreadable: {config.pk}" in told.getvalue()
    assert "6 renewed" in told.getvalue()
    assert lost in stored()


def test_with_a_wrong_key_alone_nothing_is_touched(
    filled: list[bytes], settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = ["a-wrong-key-0123456789-0123456789-0123456"]

    with pytest.raises(CommandError):
        rotated()

    assert stored() == filled
    configs = LLMConfig.objects.exclude(name="keyless")
    assert all(isinstance(config.api_key, Unreadable) for config in configs)


def test_a_value_that_changes_meanwhile_is_not_overwritten(
    filled: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace: Callable[..., bool] = rotation._replace

    def late(column: Any, pk: Any, old: bytes, new: bytes) -> bool:
        if column.model is LLMConfig:
            LLMConfig.objects.filter(pk=pk).update(api_key="sk-entered-meanwhile")
        return replace(column, pk, old, new)

    monkeypatch.setattr(rotation, "_replace", late)

    told = rotated()

    assert "7 changed meanwhile" in told
    assert "run this once more" in told
    keys = {config.api_key for config in LLMConfig.objects.exclude(name="keyless")}
    assert keys == {"sk-entered-meanwhile"}


def test_the_secret_key_is_no_part_of_it(
    filled: list[bytes], settings: Settings
) -> None:
    settings.SECRET_KEY = "another-secret-key-of-the-tests-alone-0123"

    assert LLMConfig.objects.exclude(name="keyless")[0].api_key == KEY


def checked() -> list[str]:
    found = run_checks(tags=[Tags.database], databases=["default"])
    return [str(message.id) for message in found]


def test_a_check_tells_of_what_cannot_be_read(
    filled: list[bytes], settings: Settings
) -> None:
    settings.LLM_PRIVATE_HOSTS = ["m:80"]
    assert "copilot.W002" not in checked()

    settings.ENCRYPTION_KEYS = [NEW]

    assert "copilot.W002" in checked()


def test_a_check_tells_of_addresses_that_are_not_listed(
    settings: Settings, transactional_db: None
) -> None:
    LLMConfig.objects.create(name="x", base_url="http://10.0.0.5:1/v1", model="m")

    assert "copilot.W003" in checked()
    settings.LLM_PRIVATE_HOSTS = ["10.0.0.5:1"]
    assert "copilot.W003" not in checked()
