"""System checks on keys and on the private parts of libraries we rely on."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from copilot_site.lib.fields import decrypt, encrypt


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
