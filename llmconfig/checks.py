"""System checks on keys, on what they open, and on private parts of libraries."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError

from copilot_site.lib.fields import decrypt, encrypt, opened
from copilot_site.lib.outbound import AddressRefused, reach
from llmconfig.models import LLMConfig
from llmconfig.rotation import encrypted_columns


@register
def encryption_keys(**_: Any) -> list[CheckMessage]:
    """The key ring encrypts and decrypts with the installed django-cryptography."""
    if not settings.ENCRYPTION_KEYS:
        return [
            Error(
                "No encryption key.",
                hint="Set ENCRYPTION_KEYS or ENCRYPTION_KEY_FILE.",
                id="copilot.E001",
            )
        ]
    if decrypt(encrypt("probe-of-the-ring")) != "probe-of-the-ring":
        return [
            Error(
                "The key ring does not work with this django-cryptography.",
                hint="Install the pinned version of requirements.txt.",
                id="copilot.E002",
            )
        ]
    if min(map(len, settings.ENCRYPTION_KEYS)) < 32:
        return [Warning("An encryption key is short.", id="copilot.W001")]
    return []


@register(Tags.database)
def readable_secrets(
    databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """All stored secrets are opened by today's keys; run with `check --database`."""
    if not databases:
        return []
    try:
        lost = {
            str(column): [
                pk
                for batch in column.values()
                for pk, token in batch
                if opened(token)[1] is None
            ]
            for column in encrypted_columns()
        }
    except DatabaseError:
        # Before the first migration there is nothing to read.
        return []
    return [
        Warning(
            f"{name}: no encryption key opens {len(keys)} of the stored values "
            f"(first: {keys[0]}).",
            hint="Put the missing key back into ENCRYPTION_KEYS, or enter them again.",
            id="copilot.W002",
        )
        for name, keys in lost.items()
        if keys
    ]


@register(Tags.database)
def reachable_addresses(
    databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Operators' configs at addresses inside are on the list."""
    if not databases:
        return []
    try:
        configs = list(LLMConfig.objects.filter(is_enabled=True))
    except DatabaseError:
        return []
    return [
        Warning(
            f"LLM config “{config.name}”: {refused}",
            id="copilot.W003",
        )
        for config in configs
        if (refused := _refused(config))
    ]


def _refused(config: LLMConfig) -> str:
    try:
        reach(is_trusted=config.is_trusted).check(config.base_url)
    except AddressRefused as error:
        return str(error)
    return ""
