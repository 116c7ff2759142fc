"""My notes over REST: read, add, erase. There is no way to anybody else's."""

import uuid
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.memory.models import Memory, MemoryQuerySet
from chat.memory.notes import LONGEST, MOST, matching, note_json, remember
from copilot_site.authentication import Identity
from copilot_site.lib.errors import NotFound
from projects.access import project_for
from projects.models import Role


class ProjectOfNoteShape(serializers.Serializer[Any]):
    project_id = serializers.UUIDField()
    name = serializers.CharField()


class NoteShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    text = serializers.CharField()
    project = ProjectOfNoteShape(
        allow_null=True, help_text="null: known in all conversations."
    )
    created_at = serializers.DateTimeField()
    said_at = serializers.DateTimeField(help_text="When it was last said.")


class NotesShape(serializers.Serializer[Any]):
    notes = NoteShape(many=True)
    count = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(help_text="How many there may be.")


class NewNoteShape(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST)
    project_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Only there."
    )


class NotesQuery(serializers.Serializer[Any]):
    q = serializers.CharField(
        required=False,
        max_length=500,
        default="",
        allow_blank=True,
        help_text="Words of what is looked for; the newest first without.",
    )


class ErasedShape(serializers.Serializer[Any]):
    deleted = serializers.IntegerField(min_value=0, help_text="How many notes.")


class MemoryView(APIView):
    @property
    def person(self) -> User:
        """The permission classes have let nobody else in."""
        return cast(User, self.request.user)

    @property
    def mine(self) -> MemoryQuerySet:
        return Memory.objects.owned_by(self.person)


class NoteList(MemoryView):
    @extend_schema(parameters=[NotesQuery], responses=NotesShape)
    def get(self, request: Request) -> Response:
        """What the copilot keeps for me."""
        query = NotesQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        every = list(self.mine.select_related("project"))
        notes = matching(every, query.validated_data["q"])
        shown = [note_json(note) for note in notes]
        return Response({"notes": shown, "count": len(every), "limit": MOST})

    @extend_schema(request=NewNoteShape, responses={201: NoteShape})
    def post(self, request: Request) -> Response:
        """Keep a note; secrets in it are masked first."""
        form = NewNoteShape(data=request.data)
        form.is_valid(raise_exception=True)
        project, wanted = None, form.validated_data["project_id"]
        if wanted is not None:
            project = project_for(
                cast(Identity, request.auth),
                str(wanted),
                role=Role.VIEWER,
                server=request.headers.get("X-GNS3-Server", ""),
            )
        note = remember(self.person, form.validated_data["text"], project)
        return Response(note_json(note), status=201)

    @extend_schema(operation_id="memory_destroy_all", responses={200: ErasedShape})
    def delete(self, request: Request) -> Response:
        """Erase all of my notes."""
        return Response({"deleted": self.mine.delete()[0]})


class NoteDetail(MemoryView):
    @extend_schema(responses={204: OpenApiResponse(description="Done; no body.")})
    def delete(self, request: Request, note_id: str) -> Response:
        """Erase one note."""
        try:
            wanted = uuid.UUID(note_id)
        except ValueError:
            raise NotFound("There is no such note.") from None
        if not self.mine.filter(pk=wanted).delete()[0]:
            raise NotFound("There is no such note.")
        return Response(status=204)
