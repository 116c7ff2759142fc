"""Files of a conversation: parse, authorise, one call, answer."""

import uuid
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.access import checked_session_id, session_for
from chat.documents.api.uploads import (
    ProgressShape,
    UploadSerializer,
    download,
    uploaded,
)
from chat.documents.attachments import attach, detach
from chat.documents.jobs import Job
from chat.documents.kinds import Kind
from chat.documents.models import Attachment
from chat.models import ChatSession
from copilot_site.authentication import Identity
from copilot_site.lib.errors import NotFound
from projects.access import project_for
from projects.models import Project, Role


class AttachmentShape(serializers.Serializer[Any]):
    """A file of a conversation."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Kind.choices)
    size = serializers.IntegerField(min_value=0)
    state = serializers.ChoiceField(choices=Job.State.choices)
    error = serializers.CharField(allow_null=True)
    code = serializers.CharField(allow_null=True)
    progress = ProgressShape()
    pages = serializers.IntegerField(min_value=0)
    characters = serializers.IntegerField(min_value=0)
    message_id = serializers.UUIDField(allow_null=True)
    round = serializers.IntegerField(min_value=1, allow_null=True)
    created_at = serializers.DateTimeField()


class SessionView(APIView):
    """Finds project and session before anything else; a stranger's are 404."""

    parser_classes = (MultiPartParser,)
    project: Project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD", "OPTIONS")
        self.project = project_for(
            cast(Identity, request.auth),
            kwargs["project_id"],
            role=Role.VIEWER if is_read else Role.MEMBER,
            server=request.headers.get("X-GNS3-Server", ""),
        )

    @property
    def person(self) -> User:
        """The permission classes have let nobody else in."""
        return cast(User, self.request.user)

    @property
    def session(self) -> ChatSession:
        return session_for(self.person, self.project, self.kwargs["session_id"])

    @property
    def attachment(self) -> Attachment:
        try:
            key = uuid.UUID(self.kwargs["document_id"])
        except ValueError:
            raise NotFound("There is no such document.") from None
        rows = Attachment.objects.filter(session=self.session)
        related = rows.select_related("file", "message")
        found: Attachment | None = related.filter(pk=key).first()
        if found is None:
            raise NotFound("There is no such document.")
        return found


class SessionDocumentList(SessionView):
    @extend_schema(responses=AttachmentShape(many=True))
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """The files of the conversation, oldest first, and how far each was read."""
        rows = self.session.attachments.select_related("file")
        return Response([row.as_json() for row in rows.order_by("created_at", "pk")])

    @extend_schema(
        request={"multipart/form-data": UploadSerializer},
        responses={201: AttachmentShape, 200: AttachmentShape},
    )
    def post(self, request: Request, project_id: str, session_id: str) -> Response:
        """Attach a file; it belongs to the next message. An unknown session is made."""
        name, data = uploaded(request)
        attachment, is_new = attach(self._session(), name, data, user=self.person)
        return Response(attachment.as_json(), status=201 if is_new else 200)

    def _session(self) -> ChatSession:
        """As a message would: the first thing in a conversation may be a file."""
        key = checked_session_id(self.kwargs["session_id"])
        if not ChatSession.objects.filter(thread_id=key).exists():
            ChatSession.objects.get_or_create(
                thread_id=key,
                defaults={"user": self.person, "project": self.project},
            )
        return self.session


class SessionDocumentDetail(SessionView):
    @extend_schema(responses=AttachmentShape)
    def get(
        self, request: Request, project_id: str, session_id: str, document_id: str
    ) -> Response:
        """One file, and how far it was read."""
        return Response(self.attachment.as_json())

    @extend_schema(responses={204: OpenApiResponse(description="Done; no body.")})
    def delete(
        self, request: Request, project_id: str, session_id: str, document_id: str
    ) -> Response:
        """Remove it, also from the message that it came with."""
        detach(self.attachment)
        return Response(status=204)


class SessionDocumentContent(SessionView):
    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(
        self, request: Request, project_id: str, session_id: str, document_id: str
    ) -> HttpResponse:
        """The file as it was uploaded."""
        attachment = self.attachment
        return download(attachment.file, attachment.name)
