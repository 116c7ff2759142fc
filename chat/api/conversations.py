"""Conversations of `/api/chat`: listed, read, stopped, deleted."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Q
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.access import conversation_for
from chat.api.grounded_shapes import (
    ConversationDetailShape,
    ConversationPageSerializer,
    ConversationShape,
    MessagePageSerializer,
)
from chat.api.serializers import run_json
from chat.api.shapes import StoppedShape
from chat.deletion import delete_session
from chat.history import newest_messages, turns_of
from chat.models import ChatSession, Run
from chat.runs import stop_session
from copilot_site.authentication import Identity
from projects.models import Project, Role


class ConversationList(APIView):
    @extend_schema(
        parameters=[ConversationPageSerializer],
        responses=ConversationShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """Yours in which a grounded profile has answered, the newest first."""
        page = ConversationPageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        start = page.validated_data["offset"]
        user = cast(User, request.user)
        grounded = Run.objects.filter(session=OuterRef("pk"), agent="grounded")
        visible = Project.objects.visible_to(user).values("pk")
        rows = (
            ChatSession.objects.owned_by(user)
            .filter(Exists(grounded), Q(project=None) | Q(project__in=visible))
            .listed()
            .select_related("project")
            .prefetch_related(
                Prefetch("runs", Run.objects.active(), to_attr="active_runs")
            )
        )
        found = rows[start : start + page.validated_data["limit"]]
        return Response([conversation_json(session) for session in found])


class ConversationDetail(APIView):
    @extend_schema(
        parameters=[MessagePageSerializer], responses=ConversationDetailShape
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """One, with its newest messages and what they cite, oldest first."""
        page = MessagePageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        session = _own(request, conversation_id)
        messages = newest_messages(session, limit=page.validated_data["limit"])
        return Response(
            {**conversation_json(session), "messages": turns_of(session, messages)}
        )

    @extend_schema(responses={204: OpenApiResponse(description="Done; no body.")})
    def delete(self, request: Request, conversation_id: str) -> Response:
        """Stop what runs, then remove it; the ledger of tokens stays."""
        delete_session(_own(request, conversation_id))
        return Response(status=204)


class ConversationStop(APIView):
    @extend_schema(request=None, responses=StoppedShape)
    def post(self, request: Request, conversation_id: str) -> Response:
        """Stop what runs; what was said so far is kept."""
        session = _own(request, conversation_id, role=Role.MEMBER)
        return Response({"stopped": stop_session(session)})


def _own(
    request: Request, conversation_id: str, role: Role = Role.VIEWER
) -> ChatSession:
    identity = cast(Identity, request.auth)
    return conversation_for(identity, conversation_id, role=role)


def conversation_json(session: ChatSession) -> dict[str, Any]:
    active = getattr(session, "active_runs", None)
    if active is None:
        active = list(session.runs.active())
    return {
        "conversation_id": session.thread_id,
        "project_id": session.project.project_id if session.project else None,
        "title": session.title,
        "message_count": session.message_count,
        "created_at": session.created_at.isoformat(),
        "updated_at": session.updated_at.isoformat(),
        "active_run": run_json(active[0]) if active else None,
    }
