"""Text encrypted at rest with a ring of our own keys, over django-cryptography."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.signing import BadSignature
from django.db import models
from django_cryptography.core.signing import FernetSigner
from django_cryptography.utils.crypto import FernetBytes, InvalidToken

from copilot_site.lib.secret_values import remember

if TYPE_CHECKING:
    _Base = models.BinaryField[Any, Any]
else:
    _Base = models.BinaryField


def _derive(key: str, purpose: bytes) -> bytes:
    kdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=purpose)
    return kdf.derive(key.encode())


@lru_cache(maxsize=8)
def _ring(keys: tuple[str, ...]) -> list[FernetBytes]:
    # The signer's key is derived too: django-cryptography would take SECRET_KEY,
    # and rotating that would lose every secret.
    return [
        FernetBytes(_derive(key, b"copilot-aes"), FernetSigner(_derive(key, b"sign")))
        for key in keys
    ]


def encrypt(text: str) -> bytes:
    """Under the first key of settings.ENCRYPTION_KEYS."""
    token: bytes = _ring(tuple(settings.ENCRYPTION_KEYS))[0].encrypt(text.encode())
    return token


def decrypt(token: bytes) -> str | None:
    """None if no key of the ring fits."""
    _, text = opened(token)
    return None if text is None else remember(text)


def opened(token: bytes) -> tuple[int, str | None]:
    """Which key of the ring opens it, from 0, the newest, and what is inside."""
    for place, fernet in enumerate(_ring(tuple(settings.ENCRYPTION_KEYS))):
        try:
            return place, bytes(fernet.decrypt(token)).decode()
        except (BadSignature, InvalidToken, UnicodeDecodeError):
            continue
    return -1, None


class Unreadable(str):
    """Stands for a secret that no key of ours opens; saving it changes nothing."""

    token: bytes

    def __new__(cls, token: bytes) -> "Unreadable":
        value = super().__new__(cls, "")
        value.token = token
        return value


class EncryptedTextField(_Base):
    """Strings only, so that a crafted row can run no code; no look-ups by value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("blank", True)
        super().__init__(*args, **kwargs)

    def get_default(self) -> Any:
        return ""

    def get_db_prep_value(
        self, value: Any, connection: Any, prepared: bool = False
    ) -> Any:
        if isinstance(value, Unreadable):
            token = value.token
        elif isinstance(value, str):
            token = encrypt(value) if value else b""
        else:
            token = value
        return super().get_db_prep_value(token, connection, prepared)

    def from_db_value(self, value: Any, *_: Any) -> str:
        if not value:
            return ""
        text = decrypt(bytes(value))
        return Unreadable(bytes(value)) if text is None else text

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        """Serialisers and dumps never see the clear text."""
        return ""
