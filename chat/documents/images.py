"""Pictures of a conversation for models that see: the newest few, as data: URLs."""

import base64
import logging
import uuid
from collections.abc import Collection

from chat.documents.kinds import Kind
from chat.documents.models import Attachment
from chat.documents.store import content_of
from copilot_site.lib.errors import NotFound
from llmconfig.images import Image

logger = logging.getLogger(__name__)

# More would fill the model's context, and larger ones are refused by providers.
NEWEST = 4
BYTES = 4 * 2**20
_KINDS = [kind for kind in Kind if kind.is_image]


def images_of(
    message_ids: Collection[str | None], *, are_seen: bool
) -> dict[str, list[Image]]:
    """By message; `are_seen` False: their names alone. In a thread: reads files."""
    wanted = [uuid.UUID(one) for one in message_ids if one]
    rows = (
        Attachment.objects.filter(message_id__in=wanted, file__kind__in=_KINDS)
        .select_related("file")
        .order_by("-round", "-created_at", "-pk")
    )
    found: dict[str, list[Image]] = {}
    for place, row in enumerate(rows):
        url = _url(row) if are_seen and place < NEWEST else ""
        found.setdefault(str(row.message_id), []).insert(0, Image(row.name, url))
    return found


def _url(row: Attachment) -> str:
    """Empty where it is too large, or lost."""
    if row.file.size > BYTES:
        return ""
    try:
        data = content_of(row.file)
    except NotFound:
        logger.warning("The file of attachment %s is lost", row.pk)
        return ""
    encoded = base64.b64encode(data).decode()
    return f"data:{Kind(row.file.kind).media_type};base64,{encoded}"
