"""Which collection, document or passage a person means, and whether they may."""

import uuid

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from chat.knowledge.models import Collection, Document, Passage
from chat.knowledge.models.collection import CollectionQuerySet
from copilot_site.identity import Identity
from copilot_site.lib.errors import NotFound
from projects.access import NotAllowed, role_in
from projects.models import Project, Role

_MAY_WRITE = (Role.ENGINEER, Role.OWNER)


def collection_for(
    identity: Identity, collection_id: str, *, write: bool = False
) -> Collection:
    """Raises NotFound for a stranger, NotAllowed for who may only read."""
    rows = Collection.objects.select_related("project__server", "user")
    found = rows.filter(pk=_key(collection_id, "collection")).first()
    if found is None:
        raise NotFound("There is no such collection.")
    _check(identity, found, write=write)
    return found


def document_for(
    identity: Identity, document_id: str, *, write: bool = False
) -> Document:
    """Raises NotFound, NotAllowed likewise."""
    rows = Document.objects.select_related(
        "file", "uploaded_by", "collection__project__server"
    )
    found: Document | None = rows.filter(pk=_key(document_id, "document")).first()
    if found is None:
        raise NotFound("There is no such document.")
    _check(identity, found.collection, write=write)
    return found


def passage_for(identity: Identity, passage_id: str) -> Passage:
    """By its id, or as citations name it. Raises NotFound likewise."""
    rows = Passage.objects.select_related(
        "document__file", "document__collection__project__server"
    ).defer("vector", "terms")
    key = _key(passage_id.removeprefix("passage:"), "passage")
    found = rows.filter(uid=key).first()
    if found is None:
        raise NotFound("There is no such passage: its document has changed.")
    _check(identity, found.document.collection, write=False)
    return found


def check_scope(identity: Identity, scope: str, project: Project | None) -> None:
    """May a person make a collection there? Raises NotAllowed, NotFound."""
    if scope == Collection.Scope.SITE and not identity.user.is_staff:
        raise NotAllowed("Collections of the site are made by its operators.")
    if scope == Collection.Scope.PROJECT:
        _check_role(identity, project, write=True)


def listed(rows: CollectionQuerySet, user: User) -> QuerySet[Collection]:
    """With counts, and whether the user may write: one query for all."""
    by_members = Q(memberships__user=user, memberships__role__in=_MAY_WRITE)
    by_all = Q(server__default_role__in=_MAY_WRITE)
    writable = Project.objects.visible_to(user).filter(by_members | by_all)
    return (
        rows.listed()
        .select_related("project", "user")
        .annotate(
            document_count=_count(Count("pk")),
            ready_count=_count(Count("pk", filter=Q(state="ready"))),
            writes_in=Subquery(
                writable.filter(pk=OuterRef("project")).values("pk")[:1]
            ),
        )
    )


def may_write(collection: Collection, user: User) -> bool:
    """Of a row of `listed`."""
    match collection.scope:
        case Collection.Scope.SITE:
            return user.is_staff
        case Collection.Scope.PROJECT:
            return getattr(collection, "writes_in", None) is not None
        case _:
            return collection.user_id == user.pk


def _count(of: Count) -> Subquery:
    rows = Document.objects.filter(collection=OuterRef("pk")).order_by()
    return Subquery(rows.values("collection").annotate(number=of).values("number"))


def _check(identity: Identity, collection: Collection, *, write: bool) -> None:
    match collection.scope:
        case Collection.Scope.SITE:
            if write and not identity.user.is_staff:
                raise NotAllowed("Only operators change collections of the site.")
        case Collection.Scope.PROJECT:
            _check_role(identity, collection.project, write=write)
        case _:
            if collection.user_id != identity.user.pk:
                raise NotFound("There is no such collection.")


def _check_role(identity: Identity, project: Project | None, *, write: bool) -> None:
    is_there = (
        project is not None and project.deleted_at is None and project.server.is_enabled
    )
    role = role_in(identity, project) if project and is_there else None
    if role is None:
        raise NotFound("There is no such collection.")
    if write and role not in _MAY_WRITE:
        raise NotAllowed("This needs the role engineer in the project.")


def _key(text: str, what: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise NotFound(f"There is no such {what}.") from None
