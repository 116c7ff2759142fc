"""Personal API tokens, and logins that were ended before they expired."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self) -> "ApiTokenQuerySet":
        """Neither revoked nor expired, of an active user."""
        lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(lasting, revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """A person's key for programs: shown once, kept as a digest."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    beginning = models.CharField(max_length=16, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def revoke(self) -> None:
        """From now on worthless; the row stays, for whoever asks later."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])


class EndedLogin(models.Model):
    """A login of which no token counts any more, kept until all have expired."""

    login_id = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.login_id


class Preference(models.Model):
    """What a person chose for all their devices."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="preference"
    )
    language = models.CharField(
        max_length=16,
        blank=True,
        choices=settings.LANGUAGES,
        help_text="Of interface, titles and answers; empty: as the browser asks.",
    )

    def __str__(self) -> str:
        return self.language or "as the browser asks"


class Look(models.Model):
    """An operator saw what others said: who, what, when. Nobody edits or deletes it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    username = models.CharField(max_length=150)
    page = models.CharField(max_length=100, help_text="Which page of the admin.")
    object_id = models.CharField(max_length=64, blank=True)
    owner = models.CharField(
        max_length=150, blank=True, help_text="Whose conversation it was."
    )
    query = models.CharField(
        max_length=500, blank=True, help_text="What a list was filtered by."
    )
    looked_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.username} saw {self.page} {self.object_id}".strip()
