"""Collections, documents and passages as the API shows and takes them."""

from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext
from rest_framework import serializers

from chat.documents.api.uploads import ProgressShape
from chat.documents.jobs import Job
from chat.documents.kinds import Kind
from chat.knowledge.access import may_write
from chat.knowledge.models import Collection, Document
from chat.knowledge.models.collection import NAME_LENGTH
from chat.knowledge.search import Hit


class CollectionShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    scope = serializers.ChoiceField(choices=Collection.Scope.choices)
    project_id = serializers.UUIDField(allow_null=True)
    project_name = serializers.CharField(allow_null=True)
    can_write = serializers.BooleanField()
    documents = serializers.IntegerField(min_value=0)
    ready = serializers.IntegerField(min_value=0)
    created_at = serializers.DateTimeField()


class DocumentShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    collection_id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Kind.choices)
    size = serializers.IntegerField(min_value=0)
    sha256 = serializers.CharField()
    version = serializers.IntegerField(min_value=1)
    state = serializers.ChoiceField(choices=Job.State.choices)
    error = serializers.CharField(allow_null=True)
    code = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    progress = ProgressShape()
    pages = serializers.IntegerField(min_value=0)
    passages = serializers.IntegerField(min_value=0)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class FoundShape(serializers.Serializer[Any]):
    """A passage that was found."""

    id = serializers.CharField()
    text = serializers.CharField()
    headings = serializers.ListField(child=serializers.CharField())
    location = serializers.CharField(allow_blank=True)
    page = serializers.IntegerField(allow_null=True)
    document_id = serializers.UUIDField()
    document_name = serializers.CharField()
    collection_id = serializers.UUIDField()
    collection_name = serializers.CharField()
    score = serializers.FloatField()
    coverage = serializers.FloatField()
    similarity = serializers.FloatField(allow_null=True)


class SearchShape(serializers.Serializer[Any]):
    terms = serializers.ListField(
        child=serializers.CharField(), help_text="What was looked for, folded."
    )
    passages = FoundShape(many=True)


class PassageShape(serializers.Serializer[Any]):
    """A passage with the text around it."""

    id = serializers.CharField()
    text = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    headings = serializers.ListField(child=serializers.CharField())
    location = serializers.CharField(allow_blank=True)
    page = serializers.IntegerField(allow_null=True)
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=0)
    previous = serializers.CharField(allow_null=True)
    next = serializers.CharField(allow_null=True)
    document = DocumentShape()
    collection_name = serializers.CharField()


class NewCollectionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=NAME_LENGTH)
    description = serializers.CharField(
        max_length=500, required=False, allow_blank=True, default=""
    )
    scope = serializers.ChoiceField(
        choices=Collection.Scope.choices, default=Collection.Scope.USER
    )
    project_id = serializers.CharField(
        required=False, allow_null=True, default=None, help_text="For a project's."
    )


class CollectionChangeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=NAME_LENGTH, required=False)
    description = serializers.CharField(
        max_length=500, required=False, allow_blank=True
    )


class PlaceSerializer(serializers.Serializer[Any]):
    project_id = serializers.CharField(
        required=False, default="", help_text="Besides the site's and mine, only its."
    )


class DocumentPageSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=1, max_value=500, default=200)
    offset = serializers.IntegerField(min_value=0, max_value=2**31, default=0)


class SearchSerializer(PlaceSerializer):
    q = serializers.CharField(max_length=1_000)
    collection = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Only these, by id or name; may be repeated.",
    )
    limit = serializers.IntegerField(min_value=1, max_value=50, default=10)


def collection_json(collection: Collection, user: User) -> dict[str, Any]:
    """Of a row of `access.listed`."""
    project = collection.project
    return {
        "id": str(collection.pk),
        "name": collection.name,
        "description": collection.description,
        "scope": collection.scope,
        "project_id": project.project_id if project else None,
        "project_name": project.name if project else None,
        "can_write": may_write(collection, user),
        "documents": getattr(collection, "document_count", None) or 0,
        "ready": getattr(collection, "ready_count", None) or 0,
        "created_at": collection.created_at.isoformat(),
    }


def document_json(document: Document) -> dict[str, Any]:
    return {
        "id": str(document.pk),
        "collection_id": str(document.collection_id),
        "name": document.name,
        "kind": document.file.kind,
        "size": document.file.size,
        "sha256": document.file_id,
        "version": document.version,
        "state": document.state,
        "error": gettext(document.error) if document.error else None,
        "code": document.error_code or None,
        "note": document.note,
        "progress": {"done": document.done, "total": document.total},
        "pages": document.pages,
        "passages": document.passage_count,
        "created_at": document.created_at.isoformat(),
        "updated_at": document.updated_at.isoformat(),
    }


def found_json(hit: Hit) -> dict[str, Any]:
    passage, document = hit.passage, hit.passage.document
    return {
        "id": passage.citation_id,
        "text": passage.text,
        "headings": passage.headings,
        "location": passage.location,
        "page": passage.page,
        "document_id": str(document.pk),
        "document_name": document.name,
        "collection_id": str(document.collection_id),
        "collection_name": document.collection.name,
        "score": round(hit.score, 4),
        "coverage": round(hit.coverage, 4),
        "similarity": None if hit.similarity is None else round(hit.similarity, 4),
    }
