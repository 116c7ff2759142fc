"""A named set of documents, and who may read it."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from projects.models import Project

NAME_LENGTH = 100


class CollectionQuerySet(models.QuerySet["Collection"]):
    def readable_by(
        self, user: User | AnonymousUser, *, project: Project | None = None
    ) -> Self:
        """The site's, the user's own, and those of projects that they may see.

        `project`: one in which the caller has checked their role (GNS3 may decide it);
        then those of other projects are left out.
        """
        if not user.is_authenticated:
            return self.none()
        projects = Q(project__in=Project.objects.visible_to(user).values("pk"))
        if project is not None:
            projects = Q(project=project.pk)
        return self.filter(
            Q(scope=Collection.Scope.SITE)
            | Q(scope=Collection.Scope.USER, user=user.pk)
            | Q(projects, scope=Collection.Scope.PROJECT)
        )

    def as_subquery(self) -> tuple[str, tuple[Any, ...]]:
        """SQL of their keys, and its values, for queries written by hand."""
        try:
            return self.order_by().values("pk").query.sql_with_params()
        except EmptyResultSet:
            return "SELECT id FROM knowledge_collection WHERE 1 = 0", ()

    def listed(self) -> Self:
        return self.order_by("scope", "name", "pk")


class Collection(models.Model):
    """Documents that are searched together; its scope says by whom."""

    class Scope(models.TextChoices):
        SITE = "site", _("everybody")
        PROJECT = "project", _("members of a project")
        USER = "user", _("one person")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=NAME_LENGTH)
    description = models.CharField(max_length=500, blank=True)
    scope = models.CharField(max_length=16, choices=Scope)
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="collections"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="collections",
    )
    # Rises with each change of its passages: what is kept in memory is of one version.
    version = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    objects = CollectionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scope="site", project=None, user=None)
                | Q(scope="project", project__isnull=False, user=None)
                | Q(scope="user", project=None, user__isnull=False),
                name="a_collection_is_whose_its_scope_says",
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(scope="site"),
                name="one_collection_per_name_of_the_site",
            ),
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=Q(scope="project"),
                name="one_collection_per_name_and_project",
            ),
            models.UniqueConstraint(
                fields=["user", "name"],
                condition=Q(scope="user"),
                name="one_collection_per_name_and_user",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def touch(self) -> None:
        """Its passages have changed."""
        Collection.objects.filter(pk=self.pk).update(version=F("version") + 1)
