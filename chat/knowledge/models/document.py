"""A document of a collection, and how far the work on it is."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from chat.documents.jobs import Job, JobQuerySet
from chat.documents.models import NAME_LENGTH, File
from chat.knowledge.models.collection import Collection


class Document(Job):
    """One file in one collection; a new version takes the place of the old one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="documents")
    file = models.ForeignKey(File, models.PROTECT, related_name="documents")
    name = models.CharField(max_length=NAME_LENGTH)
    version = models.PositiveIntegerField(default=1, editable=False)
    pages = models.PositiveIntegerField(default=0, editable=False)
    passage_count = models.PositiveIntegerField(default=0, editable=False)
    note = models.CharField(max_length=500, blank=True, editable=False)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            # The same content again is the same document.
            models.UniqueConstraint(
                fields=["collection", "file"], name="one_document_per_content"
            )
        ]
        indexes = [
            models.Index(fields=["state", "created_at"], name="idx_document_state"),
            models.Index(fields=["collection", "name"], name="idx_document_name"),
        ]

    def __str__(self) -> str:
        return self.name
