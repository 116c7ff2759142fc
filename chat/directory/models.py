"""Kinds of record, their records, and the imports that brought them."""

import uuid
from collections.abc import Sequence
from typing import Any, Self

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from chat.directory.kinds import FIELD_TYPES, SHIPPED, Field
from chat.directory.values import BadValue, checked
from projects.models import Project

# Addresses of the API that no kind may take.
_TAKEN = ("kinds", "records", "import")
_NAME = RegexValidator(
    r"^[a-z][a-z0-9_]{0,49}\Z", "Small letters, digits and underscores."
)
_MOST_FIELDS = 50


class RecordKindQuerySet(models.QuerySet["RecordKind"]):
    def shipped(self, slug: str) -> "RecordKind | None":
        """A shipped kind, made if it is not there yet; None for another name."""
        for kind in SHIPPED:
            if kind.slug == slug:
                found, _ = self.get_or_create(
                    slug=slug,
                    defaults={
                        "label": kind.label,
                        "singular": kind.singular,
                        "words": kind.words,
                        "is_shipped": True,
                        "fields": [field.as_json() for field in kind.fields],
                    },
                )
                return found
        return None

    def named(self, slug: str) -> "RecordKind | None":
        return self.filter(slug=slug).first() or self.shipped(slug)


class RecordKind(models.Model):
    """What records of one kind have: faculty, courses, or an operator's own."""

    slug = models.CharField(max_length=50, unique=True, validators=[_NAME])
    label = models.CharField(max_length=100, help_text="Of many: Courses.")
    singular = models.CharField(max_length=100, help_text="Of one: Course.")
    words = models.CharField(
        max_length=500,
        blank=True,
        help_text="What else people call such records, in any language.",
    )
    fields = models.JSONField(
        help_text="A list of {name, label, type, kind?, is_key?, is_name?}; types: "
        + ", ".join(FIELD_TYPES)
    )
    is_shipped = models.BooleanField(default=False, editable=False)
    objects = RecordKindQuerySet.as_manager()

    _parsed: tuple[Any, Sequence[Field]] | None = None

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if self.slug in _TAKEN:
            raise ValidationError({"slug": "This name is taken by the API."})
        if problem := problem_of(self.fields):
            raise ValidationError({"fields": problem})
        if self.is_shipped:
            self._keep_shipped_fields()

    def _keep_shipped_fields(self) -> None:
        """A shipped kind may get more fields, but lose none: tools rely on them."""
        shipped = next(kind for kind in SHIPPED if kind.slug == self.slug)
        own = {field.name: field for field in self.columns}
        for field in shipped.fields:
            mine = own.get(field.name)
            if mine is None or (mine.type, mine.is_key, mine.is_name) != (
                field.type,
                field.is_key,
                field.is_name,
            ):
                raise ValidationError(
                    {"fields": f"The shipped field “{field.name}” must stay as it is."}
                )

    @property
    def columns(self) -> Sequence[Field]:
        # Read thousands of times in one look-up.
        if self._parsed is None or self._parsed[0] is not self.fields:
            self._parsed = self.fields, [Field.from_json(one) for one in self.fields]
        return self._parsed[1]

    @property
    def key(self) -> Field:
        return next(field for field in self.columns if field.is_key)

    @property
    def name(self) -> Field:
        return next(field for field in self.columns if field.is_name)

    @property
    def has_telling_key(self) -> bool:
        """Whether people say it, as in NET-201; an id is for machines."""
        return self.key.name != "id"


def problem_of(fields: Any) -> str:
    """What is wrong with the fields of a kind, or nothing."""
    if not isinstance(fields, list) or not 2 <= len(fields) <= _MOST_FIELDS:
        return f"A list of 2 to {_MOST_FIELDS} fields."
    names: set[str] = set()
    for field in fields:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            return "Each field is an object with a name."
        name = field["name"]
        try:
            _NAME(name)
        except ValidationError:
            return f"The name “{name}” should be small letters, digits, underscores."
        if name in names:
            return f"Two fields are named “{name}”."
        names.add(name)
        if field.get("type", "text") not in FIELD_TYPES:
            return f"“{name}” has no known type; types: {', '.join(FIELD_TYPES)}."
        if field.get("type") == "reference" and not field.get("kind"):
            return f"“{name}” should say which kind it refers to."
        if not isinstance(field.get("label", ""), str):
            return f"The label of “{name}” is no text."
        if unknown := field.keys() - {*Field.__dataclass_fields__}:
            return f"“{name}” has unknown parts: {', '.join(sorted(unknown))}."
        if (field.get("is_key") or field.get("is_name")) and field.get(
            "type", "text"
        ) != "text":
            return f"“{name}” is key or name and so must be text."
    for mark in ("is_key", "is_name"):
        if sum(bool(field.get(mark)) for field in fields) != 1:
            return f"Exactly one field has {mark}."
    return ""


class RecordQuerySet(models.QuerySet["Record"]):
    def readable_by(self, user: User | AnonymousUser) -> Self:
        """The site's, and those of the projects in which the person has a role."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(
            Q(project=None) | Q(project__in=Project.objects.visible_to(user))
        )

    def of_kind(self, kind: RecordKind) -> list["Record"]:
        """All of them, with this one object as their kind."""
        records = list(self.filter(kind=kind).order_by("key"))
        for record in records:
            record.kind = kind
        return records

    def of_site_and(self, project: Project) -> Self:
        return self.filter(Q(project=None) | Q(project=project))


class Record(models.Model):
    """One entry of the directory; the site's, or of one project."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.ForeignKey(RecordKind, models.CASCADE, related_name="records")
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="records",
        help_text="Empty: for everybody on this site.",
    )
    key = models.CharField(max_length=200)
    name = models.CharField(max_length=300)
    data = models.JSONField(default=dict, blank=True)
    source = models.CharField(max_length=255, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    objects = RecordQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "key"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "project", "key"], name="one_record_per_project_and_key"
            ),
            models.UniqueConstraint(
                fields=["kind", "key"],
                condition=Q(project=None),
                name="one_record_per_site_and_key",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Values are kept as an import would keep them."""
        if not isinstance(self.data, dict):
            raise ValidationError({"data": "An object with a value for each field."})
        columns = {
            one.name: one
            for one in self.kind.columns
            if not (one.is_key or one.is_name)
        }
        if unknown := self.data.keys() - columns.keys():
            raise ValidationError(
                {"data": f"Fields are {', '.join(columns)}, not {min(unknown)}."}
            )
        for name, raw in self.data.items():
            try:
                self.data[name] = checked(columns[name], raw)
            except BadValue as error:
                raise ValidationError({"data": f"{name}: {error}"}) from None
        self.data = {name: value for name, value in self.data.items() if value != ""}

    @property
    def title(self) -> str:
        return f"{self.kind.singular} {self.label}"

    @property
    def label(self) -> str:
        """The name, with the key before it where people say that."""
        if self.key == self.name or not self.kind.has_telling_key:
            return self.name
        return f"{self.key} {self.name}"


class RecordImport(models.Model):
    """A file of records: checked, waiting to be confirmed, or done."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.ForeignKey(RecordKind, models.CASCADE, related_name="imports")
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True)
    user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True)
    file_name = models.CharField(max_length=255)
    # The file's rows until they are confirmed; nothing afterwards.
    rows = models.JSONField(default=list)
    created_count = models.PositiveIntegerField(default=0)
    changed_count = models.PositiveIntegerField(default=0)
    unchanged_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.file_name
