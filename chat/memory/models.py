"""What a person asked the copilot to keep."""

import uuid
from typing import Self

from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Q
from django.utils import timezone

from projects.models import Project


class MemoryQuerySet(models.QuerySet["Memory"]):
    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(user=user) if user.is_authenticated else self.none()

    def known_in(self, project: Project | None) -> Self:
        """What holds everywhere, and in this project."""
        return self.filter(Q(project=None) | Q(project=project))


class Memory(models.Model):
    """One note of one person; nobody else's run ever reads it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="memories")
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memories",
        help_text="Empty: in all of this person's conversations.",
    )
    text = models.TextField(max_length=2000)
    # Of the folded text: the same note is kept once.
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # When it was last said, which counts when notes are recalled.
    said_at = models.DateTimeField(default=timezone.now, editable=False)
    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        ordering = ["-said_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "project", "digest"],
                name="one_memory_per_project_and_text",
            ),
            models.UniqueConstraint(
                fields=["user", "digest"],
                condition=Q(project=None),
                name="one_memory_per_user_and_text",
            ),
        ]

    def __str__(self) -> str:
        return f"Memory of {self.user_id}"
