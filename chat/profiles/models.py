"""Profiles and their versions: what a run is told, what it may do, how it greets."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class ProfileQuerySet(models.QuerySet["Profile"]):
    def usable_by(self, user: User | AnonymousUser) -> Self:
        """Enabled, and either everybody's or one of the user's groups'."""
        mine = Q(groups=None) | Q(groups__user=user.pk)
        return self.filter(mine, is_enabled=True).distinct()


class Profile(models.Model):
    """A named assistant set-up; its content stands in its versions."""

    slug = models.SlugField(max_length=100, unique=True)
    current_number = models.PositiveIntegerField(
        default=0, editable=False, help_text="Of the version that new rounds take."
    )
    is_enabled = models.BooleanField(
        default=True, help_text="Otherwise no new round can be asked with it."
    )
    groups = models.ManyToManyField(
        Group, blank=True, help_text="Only they may use it; none: everybody may."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    objects = ProfileQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    @property
    def current(self) -> "ProfileVersion":
        """Raises DoesNotExist while its first version is being written."""
        return self.versions.get(number=self.current_number)

    def is_from_file(self) -> bool:
        return self.versions.filter(source=ProfileVersion.Source.FILE).exists()

    def add_version(self, **fields: Any) -> "ProfileVersion":
        """Raises IntegrityError where somebody else added one at the same time."""
        last = self.versions.aggregate(last=models.Max("number"))["last"] or 0
        return self.versions.create(number=last + 1, **fields)

    def use(self, version: "ProfileVersion") -> None:
        """For rounds from now on; earlier ones keep theirs."""
        self.current_number = version.number
        self.save(update_fields=["current_number", "updated_at"])


class ProfileVersionQuerySet(models.QuerySet["ProfileVersion"]):
    def current(self) -> Self:
        return self.filter(number=F("profile__current_number"))


class ProfileVersion(models.Model):
    """One state of a profile; never changed, so that a run can keep it."""

    class Source(models.TextChoices):
        FILE = "file"
        OPERATOR = "operator"

    profile = models.ForeignKey(Profile, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    source = models.CharField(max_length=16, choices=Source)
    definition = models.JSONField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    objects = ProfileVersionQuerySet.as_manager()

    class Meta:
        ordering = ["profile", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["profile", "number"], name="one_version_of_a_number"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.number}"
