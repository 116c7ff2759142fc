"""Pages of the session list: by number, or by a cursor that no change can move."""

import base64
import binascii
from datetime import datetime
from typing import Any, Self

import orjson
from django.db.models import Q
from rest_framework import serializers

from chat.models import ChatSession
from copilot_site.api import BadRequest


class BadCursor(BadRequest):
    code = "bad_cursor"


class ListCursor:
    """The place after a session, by the values it had: it may move or vanish."""

    def __init__(self, *, pinned: bool, updated_at: datetime, key: int) -> None:
        self._pinned, self._updated_at, self._key = pinned, updated_at, key

    @classmethod
    def after(cls, session: ChatSession) -> Self:
        return cls(pinned=session.pinned, updated_at=session.updated_at, key=session.pk)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises BadCursor for anything that `str` of a cursor did not make."""
        try:
            raw = base64.b64decode(
                text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True
            )
            pinned, moment, key = orjson.loads(raw)
            updated_at = datetime.fromisoformat(moment)
            is_right = (
                isinstance(pinned, bool)
                and type(key) is int
                and 0 <= key < 2**63
                and updated_at.tzinfo is not None
            )
            # SQLite and PostgreSQL both take years of four digits in UTC only.
            if not is_right or not 1970 <= updated_at.year <= 9000:
                raise ValueError(text)
        except (ValueError, TypeError, binascii.Error, OverflowError):
            raise BadCursor("The cursor is not one of this list.") from None
        return cls(pinned=pinned, updated_at=updated_at, key=key)

    def __str__(self) -> str:
        value = [self._pinned, self._updated_at.isoformat(), self._key]
        return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()

    @property
    def rest(self) -> Q:
        """What comes after this place in the list's order."""
        older = Q(updated_at__lt=self._updated_at) | Q(
            updated_at=self._updated_at, pk__lt=self._key
        )
        same = Q(pinned=self._pinned) & older
        return same | Q(pinned=False) if self._pinned else same


class SessionPageSerializer(serializers.Serializer[Any]):
    """Query parameters of the session list."""

    limit = serializers.IntegerField(
        min_value=1, max_value=200, default=50, help_text="How many at most."
    )
    offset = serializers.IntegerField(
        min_value=0,
        max_value=1_000_000,
        default=0,
        help_text="How many to leave out; without effect beside a cursor.",
    )
    cursor = serializers.CharField(
        required=False,
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Where the last page ended: its `X-Next-Cursor`.",
    )
    q = serializers.CharField(
        required=False,
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Beginnings of words, all in the title or all in one message.",
    )
    pinned = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="Only such."
    )
    profile = serializers.CharField(
        required=False,
        max_length=100,
        default="",
        allow_blank=True,
        help_text="Only sessions that a run of this profile belongs to.",
    )


class HistoryPageSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(
        min_value=1, max_value=1000, default=100, help_text="How many at most."
    )
    before = serializers.UUIDField(
        required=False,
        default=None,
        help_text="A message's id: the ones before it.",
    )
