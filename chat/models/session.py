"""One conversation of one user, in a project or in none."""

import uuid
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.utils import timezone

from projects.models import Project

TITLE_LENGTH = 255


def new_thread_id() -> str:
    return str(uuid.uuid4())


class ChatSessionQuerySet(models.QuerySet["ChatSession"]):
    def owned_by(self, user: User | AnonymousUser) -> Self:
        """Nobody's for an anonymous user."""
        return self.filter(user=user.pk) if user.pk else self.none()

    def listed(self) -> Self:
        """Pinned first, newest first."""
        return self.order_by("-pinned", "-updated_at", "-id")


class ChatSession(models.Model):
    """A conversation; `thread_id` is its public id."""

    thread_id = models.CharField(max_length=36, default=new_thread_id, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="chat_sessions"
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="chat_sessions"
    )
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    is_title_final = models.BooleanField(
        default=False, editable=False, help_text="A person named it."
    )
    message_count = models.PositiveBigIntegerField(default=0, editable=False)
    llm_calls_count = models.PositiveBigIntegerField(default=0, editable=False)
    input_tokens = models.PositiveBigIntegerField(default=0, editable=False)
    output_tokens = models.PositiveBigIntegerField(default=0, editable=False)
    total_tokens = models.PositiveBigIntegerField(default=0, editable=False)
    last_message_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    metadata = models.JSONField(default=dict, blank=True)
    stats = models.JSONField(default=dict, blank=True)
    pinned = models.BooleanField(default=False)
    objects = ChatSessionQuerySet.as_manager()

    class Meta:
        verbose_name = "session"
        constraints = [
            models.UniqueConstraint(fields=["thread_id"], name="idx_thread_id")
        ]
        indexes = [
            models.Index(fields=["user", "project"], name="idx_user_project"),
            models.Index(fields=["-pinned", "-updated_at"], name="idx_pinned_updated"),
        ]

    def __str__(self) -> str:
        return self.title or self.thread_id

    def last_profile(self) -> str:
        """Of the newest round; "" where there is none."""
        # The list view has fetched it with the rows.
        known: str | None = getattr(self, "newest_profile", None)
        if known is None:
            rounds = self.runs.order_by("-round").values_list("profile", flat=True)
            known = rounds.first()
        return known or ""

    def rename(self, title: str) -> None:
        """A person's title is final: no generated one replaces it."""
        self.title, self.is_title_final = title, True
        self.updated_at = timezone.now()
        self.save(update_fields=["title", "is_title_final", "updated_at"])

    def suggest_title(self, title: str) -> bool:
        """Take a generated title; False if a person's came first."""
        row = ChatSession.objects.filter(pk=self.pk, is_title_final=False)
        return row.update(title=title[:TITLE_LENGTH]) == 1

    def pin(self, *, pinned: bool) -> None:
        self.pinned = pinned
        self.save(update_fields=["pinned"])
