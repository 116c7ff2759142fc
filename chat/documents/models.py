"""Files that people uploaded, each content once, and those of a conversation."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.utils import timezone

from chat.documents.jobs import Job, JobQuerySet
from chat.documents.kinds import Kind
from chat.models import ChatSession, Message

NAME_LENGTH = 255


class File(models.Model):
    """Bytes in DATA_DIR, named by their hash; gone with the last row that refers."""

    sha256 = models.CharField(primary_key=True, max_length=64, editable=False)
    kind = models.CharField(max_length=16, choices=Kind, editable=False)
    size = models.PositiveBigIntegerField(editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256[:12]}"


class FileText(models.Model):
    """What a file says: read once, whoever uploaded it how often."""

    file = models.OneToOneField(
        File, models.CASCADE, primary_key=True, related_name="reading"
    )
    text = models.TextField()
    # Offsets at which pages begin; [offset, level, title] of headings.
    pages = models.JSONField(default=list)
    headings = models.JSONField(default=list)
    is_lines = models.BooleanField(default=False)
    note = models.CharField(max_length=500, blank=True)
    # Readings of an older version of the readers are made again.
    reader = models.PositiveSmallIntegerField()

    def __str__(self) -> str:
        return f"Text of {self.file_id[:12]}"


class AttachmentQuerySet(JobQuerySet):
    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(session__user=user.pk) if user.pk else self.none()

    def pending(self) -> Self:
        """Waiting for the message that they belong to."""
        return self.filter(message=None)


class Attachment(Job):
    """A file of a conversation; belongs to the message that it came with."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(ChatSession, models.CASCADE, related_name="attachments")
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="attachments"
    )
    round = models.PositiveIntegerField(null=True, blank=True, editable=False)
    file = models.ForeignKey(File, models.PROTECT, related_name="attachments")
    name = models.CharField(max_length=NAME_LENGTH)
    pages = models.PositiveIntegerField(default=0, editable=False)
    characters = models.PositiveIntegerField(default=0, editable=False)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+"
    )
    objects = AttachmentQuerySet.as_manager()

    class Meta:
        verbose_name = "document of a conversation"
        verbose_name_plural = "documents of conversations"
        constraints = [
            models.UniqueConstraint(
                fields=["session", "file"], name="one_attachment_per_session_and_file"
            )
        ]
        indexes = [
            models.Index(fields=["state", "created_at"], name="idx_attachment_state")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_image(self) -> bool:
        return Kind(self.file.kind).is_image

    def as_json(self) -> dict[str, Any]:
        """As the API and the message it came with show it."""
        return {
            "id": str(self.pk),
            "name": self.name,
            "kind": self.file.kind,
            "size": self.file.size,
            "state": self.state,
            "error": self.error or None,
            "code": self.error_code or None,
            "progress": {"done": self.done, "total": self.total},
            "pages": self.pages,
            "characters": self.characters,
            "message_id": str(self.message_id) if self.message_id else None,
            "round": self.round,
            "created_at": self.created_at.isoformat(),
        }
