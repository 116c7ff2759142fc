"""GNS3 servers, the projects mirrored from them, and who may do what there."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.fields import EncryptedTextField


class Role(models.TextChoices):
    """What a person may do in a project; each includes those above it."""

    VIEWER = "viewer", _("Viewer")
    MEMBER = "member", _("Member")
    ENGINEER = "engineer", _("Engineer")
    OWNER = "owner", _("Owner")

    def includes(self, other: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


class Server(models.Model):
    """A GNS3 server, or the simulated lab."""

    class Access(models.TextChoices):
        SERVICE = "service", "Our roles decide, a service account acts"
        PER_USER = "per_user", "GNS3 decides, each user's own account acts"

    name = models.CharField(max_length=100, unique=True)
    url = models.CharField(max_length=500)
    access = models.CharField(
        max_length=16, choices=Access, default=Access.SERVICE, db_default="service"
    )
    username = models.CharField(max_length=150, blank=True)
    password = EncryptedTextField()
    default_role = models.CharField(
        max_length=16,
        choices=Role,
        blank=True,
        help_text="Role of every user; empty: only members see it.",
    )
    is_simulated = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name

    @property
    def asks_gns3(self) -> bool:
        """Whether GNS3 decides who may, and each person's own token acts."""
        return self.access == Server.Access.PER_USER


class ProjectQuerySet(models.QuerySet["Project"]):
    def present(self) -> Self:
        """On enabled servers, and not known to be deleted there."""
        return self.filter(server__is_enabled=True, deleted_at=None).select_related(
            "server"
        )

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Projects in which we give the user any role; GNS3 decides of others."""
        if not user.is_authenticated:
            return self.none()
        return self.present().filter(
            ~Q(server__default_role="")
            | Q(pk__in=Membership.objects.filter(user=user).values("project")),
            server__access=Server.Access.SERVICE,
        )

    def due_for_purge(self, moment: datetime) -> Self:
        """Deleted in GNS3 at this moment or before."""
        return self.filter(deleted_at__lte=moment)


class Project(models.Model):
    """A GNS3 project as it was last seen on its server."""

    class Status(models.TextChoices):
        OPENED = "opened"
        CLOSED = "closed"

    server = models.ForeignKey(Server, models.CASCADE, related_name="projects")
    project_id = models.CharField(max_length=36)
    name = models.CharField(max_length=255)
    status = models.CharField(max_length=16, choices=Status, default=Status.CLOSED)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    seen_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_by = models.CharField(max_length=150, blank=True, editable=False)
    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["server", "project_id"], name="one_project_per_server_and_id"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_opened(self) -> bool:
        return self.status == Project.Status.OPENED

    def role_of(self, user: User | AnonymousUser) -> Role | None:
        """The higher of the member's role and the server's default; None: stranger.

        None also where GNS3 decides: there a role hangs on a token (`projects.access`).
        """
        if not user.is_authenticated or self.server.asks_gns3:
            return None
        own = Membership.objects.filter(project=self, user=user).values_list(
            "role", flat=True
        )
        roles = [Role(role) for role in (*own, self.server.default_role) if role]
        return max(roles, key=list(Role).index, default=None)


class Membership(models.Model):
    """A person's role in a project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=16, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user"], name="one_role_per_project_and_user"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class Gns3Identity(models.Model):
    """A user of a GNS3 server, and the user of ours that stands for them."""

    server = models.ForeignKey(Server, models.CASCADE, related_name="identities")
    gns3_user_id = models.CharField(max_length=36)
    gns3_username = models.CharField(max_length=150)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="gns3_identity"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "GNS3 identity"
        verbose_name_plural = "GNS3 identities"
        constraints = [
            models.UniqueConstraint(
                fields=["server", "gns3_user_id"],
                name="one_identity_per_server_and_gns3_user",
            )
        ]

    def __str__(self) -> str:
        return f"{self.gns3_username} of {self.server}"


class PurgedProject(models.Model):
    """What was removed with a deleted project: who, what, how much; no content."""

    server_name = models.CharField(max_length=100)
    project_id = models.CharField(max_length=36)
    name = models.CharField(max_length=255)
    deleted_by = models.CharField(max_length=150, blank=True)
    deleted_at = models.DateTimeField(null=True)
    purged_at = models.DateTimeField(default=timezone.now)
    counts = models.JSONField(default=dict)

    class Meta:
        ordering = ["-purged_at"]

    def __str__(self) -> str:
        return self.name
