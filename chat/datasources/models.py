"""An SQL database that the agent may read."""

from typing import Self

from django.contrib.auth.models import Group, User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from chat.datasources.address import POSTGRESQL, SQLITE
from copilot_site.lib.fields import EncryptedTextField


class DataSourceQuerySet(models.QuerySet["DataSource"]):
    def usable_by(self, user: User) -> Self:
        """Those of everybody and those of the user's groups."""
        groups = Group.objects.filter(user=user.pk)
        return self.filter(
            Q(groups=None) | Q(groups__in=groups), is_enabled=True
        ).distinct()


class DataSource(models.Model):
    """Where it is, what may be read of it, by whom, and how much at once."""

    class Engine(models.TextChoices):
        POSTGRESQL = POSTGRESQL, "PostgreSQL"
        SQLITE = SQLITE, "SQLite"

    slug = models.SlugField(
        max_length=50, unique=True, help_text="The name that models and people use."
    )
    title = models.CharField(max_length=100)
    description = models.TextField(
        blank=True, help_text="What the data is about, in one or two sentences."
    )
    url = EncryptedTextField(verbose_name="address")
    engine = models.CharField(max_length=16, choices=Engine, editable=False)
    notes = models.TextField(
        blank=True,
        verbose_name="schema notes",
        help_text="What tables and columns mean, for the model: Markdown, or a JSON "
        "object of notes by “table” or “table.column”.",
    )
    allowed_tables = models.TextField(
        blank=True,
        help_text="One a line: products, sales.*, public.order_*. None: all tables "
        "that the database role may read.",
    )
    row_cap = models.PositiveIntegerField(
        default=200,
        validators=[MinValueValidator(1), MaxValueValidator(5_000)],
        help_text="Rows of one query at most.",
    )
    byte_cap = models.PositiveIntegerField(
        default=16_000,
        validators=[MinValueValidator(1_000), MaxValueValidator(1_000_000)],
        help_text="Characters of one query's rows at most.",
    )
    timeout = models.PositiveIntegerField(
        default=15,
        validators=[MinValueValidator(1), MaxValueValidator(300)],
        help_text="Seconds; then the query is ended.",
    )
    groups = models.ManyToManyField(
        Group,
        blank=True,
        related_name="data_sources",
        help_text="Who may ask it. None: everybody who may log in.",
    )
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    objects = DataSourceQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title or self.slug
