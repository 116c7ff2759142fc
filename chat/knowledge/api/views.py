"""Collections, documents, passages: parse, authorise, one call, answer."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.documents.api.uploads import UploadSerializer, download, uploaded
from chat.knowledge import ingest
from chat.knowledge.access import (
    check_scope,
    collection_for,
    document_for,
    listed,
    passage_for,
)
from chat.knowledge.api import shapes
from chat.knowledge.context import in_context
from chat.knowledge.models import Collection
from chat.knowledge.models.collection import CollectionQuerySet
from chat.knowledge.search import search
from chat.knowledge.service import named
from chat.knowledge.terms import question_terms
from copilot_site.authentication import Identity
from copilot_site.json_parser import BoundedJSONParser
from copilot_site.lib.errors import Conflict
from projects.access import project_for
from projects.models import Project, Role

_NOTHING = OpenApiResponse(description="Done; no body.")
_UPLOAD = {"multipart/form-data": UploadSerializer}


class CollectionNameTaken(Conflict):
    code = "collection_name_taken"


class KnowledgeView(APIView):
    parser_classes = (BoundedJSONParser, MultiPartParser)

    @property
    def identity(self) -> Identity:
        """The permission classes have let nobody else in."""
        return cast(Identity, self.request.auth)

    @property
    def person(self) -> User:
        return self.identity.user

    def project(self, project_id: str | None, role: Role) -> Project | None:
        if not project_id:
            return None
        server = self.request.headers.get("X-GNS3-Server", "")
        return project_for(self.identity, project_id, role=role, server=server)

    def readable(self, project_id: str) -> CollectionQuerySet:
        project = self.project(project_id, Role.VIEWER)
        return Collection.objects.readable_by(self.person, project=project)

    def shown(self, collection: Collection) -> dict[str, Any]:
        rows = Collection.objects.filter(pk=collection.pk)
        return shapes.collection_json(listed(rows, self.person).get(), self.person)


class CollectionList(KnowledgeView):
    @extend_schema(
        parameters=[shapes.PlaceSerializer],
        responses=shapes.CollectionShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """All that I may read: the site's, my projects', my own."""
        place = shapes.PlaceSerializer(data=request.query_params)
        place.is_valid(raise_exception=True)
        rows = listed(self.readable(place.validated_data["project_id"]), self.person)
        return Response([shapes.collection_json(row, self.person) for row in rows])

    @extend_schema(
        request=shapes.NewCollectionSerializer,
        responses={201: shapes.CollectionShape},
    )
    def post(self, request: Request) -> Response:
        """A new one: the site's by operators, a project's by its engineers, my own."""
        form = shapes.NewCollectionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        scope, project = wanted["scope"], None
        if scope == Collection.Scope.PROJECT:
            project = self.project(wanted["project_id"] or "-", Role.VIEWER)
        check_scope(self.identity, scope, project)
        try:
            with transaction.atomic():
                collection = Collection.objects.create(
                    name=wanted["name"],
                    description=wanted["description"],
                    scope=scope,
                    project=project,
                    user=self.person if scope == Collection.Scope.USER else None,
                )
        except IntegrityError:
            raise CollectionNameTaken(gettext("There is one of this name.")) from None
        return Response(self.shown(collection), status=201)


class CollectionDetail(KnowledgeView):
    @extend_schema(responses=shapes.CollectionShape)
    def get(self, request: Request, collection_id: str) -> Response:
        """One collection."""
        return Response(self.shown(collection_for(self.identity, collection_id)))

    @extend_schema(
        request=shapes.CollectionChangeSerializer, responses=shapes.CollectionShape
    )
    def patch(self, request: Request, collection_id: str) -> Response:
        """Rename or describe it."""
        collection = collection_for(self.identity, collection_id, write=True)
        form = shapes.CollectionChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        try:
            with transaction.atomic():
                rows = Collection.objects.filter(pk=collection.pk)
                if form.validated_data:
                    rows.update(**form.validated_data)
        except IntegrityError:
            raise CollectionNameTaken(gettext("There is one of this name.")) from None
        return Response(self.shown(collection))

    @extend_schema(responses={204: _NOTHING})
    def delete(self, request: Request, collection_id: str) -> Response:
        """With all its documents."""
        ingest.delete_collection(
            collection_for(self.identity, collection_id, write=True)
        )
        return Response(status=204)


class DocumentList(KnowledgeView):
    @extend_schema(
        parameters=[shapes.DocumentPageSerializer],
        responses=shapes.DocumentShape(many=True),
    )
    def get(self, request: Request, collection_id: str) -> Response:
        """Its documents by name, and how far each is."""
        collection = collection_for(self.identity, collection_id)
        page = shapes.DocumentPageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        start, limit = page.validated_data["offset"], page.validated_data["limit"]
        rows = collection.documents.select_related("file").order_by("name", "pk")
        return Response(
            [shapes.document_json(row) for row in rows[start : start + limit]]
        )

    @extend_schema(
        request=_UPLOAD,
        responses={201: shapes.DocumentShape, 200: shapes.DocumentShape},
    )
    def post(self, request: Request, collection_id: str) -> Response:
        """Upload a document; a worker reads it. The same content again is 200."""
        collection = collection_for(self.identity, collection_id, write=True)
        name, data = uploaded(request)
        document, is_new = ingest.upload(collection, name, data, user=self.person)
        return Response(shapes.document_json(document), status=201 if is_new else 200)


class DocumentDetail(KnowledgeView):
    @extend_schema(responses=shapes.DocumentShape)
    def get(self, request: Request, document_id: str) -> Response:
        """One document, and how far it is."""
        return Response(shapes.document_json(document_for(self.identity, document_id)))

    @extend_schema(request=_UPLOAD, responses=shapes.DocumentShape)
    def put(self, request: Request, document_id: str) -> Response:
        """A new version: nothing of the old one is found from now on."""
        document = document_for(self.identity, document_id, write=True)
        name, data = uploaded(request)
        document = ingest.replace(document, name, data, user=self.person)
        return Response(shapes.document_json(document))

    @extend_schema(responses={204: _NOTHING})
    def delete(self, request: Request, document_id: str) -> Response:
        """With its passages and its file."""
        ingest.delete_document(document_for(self.identity, document_id, write=True))
        return Response(status=204)


class DocumentContent(KnowledgeView):
    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, document_id: str) -> HttpResponse:
        """The file as it was uploaded."""
        document = document_for(self.identity, document_id)
        return download(document.file, document.name)


class PassageDetail(KnowledgeView):
    @extend_schema(responses=shapes.PassageShape)
    def get(self, request: Request, passage_id: str) -> Response:
        """What a citation opens: the passage with the text around it."""
        passage = passage_for(self.identity, passage_id)
        around = in_context(passage)
        document = passage.document
        return Response(
            {
                "id": passage.citation_id,
                "text": passage.text,
                "before": around.before,
                "after": around.after,
                "headings": passage.headings,
                "location": passage.location,
                "page": passage.page,
                "start": passage.start,
                "end": passage.end,
                "previous": around.previous,
                "next": around.next,
                "document": shapes.document_json(document),
                "collection_name": document.collection.name,
            }
        )


class Search(KnowledgeView):
    @extend_schema(parameters=[shapes.SearchSerializer], responses=shapes.SearchShape)
    def get(self, request: Request) -> Response:
        """By words and by meaning, in all that I may read; best first."""
        form = shapes.SearchSerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        rows = self.readable(wanted["project_id"])
        if wanted.get("collection"):
            rows = named(rows, wanted["collection"])
        hits = search(wanted["q"], collections=rows, limit=wanted["limit"])
        return Response(
            {
                "terms": question_terms(wanted["q"]),
                "passages": [shapes.found_json(hit) for hit in hits],
            }
        )
