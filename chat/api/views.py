"""Sessions, their history and their runs: parse, authorise, one call, answer."""

import uuid
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.access import run_for, session_for
from chat.api.paging import HistoryPageSerializer, ListCursor, SessionPageSerializer
from chat.api.serializers import (
    ChatSessionSerializer,
    NewSessionSerializer,
    TitleSerializer,
    run_json,
)
from chat.api.shapes import (
    DeletedShape,
    HistoryShape,
    RunShape,
    StoppedShape,
)
from chat.deletion import delete_session, delete_sessions
from chat.history import newest_messages, turns_of
from chat.models import ChatSession, Run
from chat.models.run import Status
from chat.models.session import ChatSessionQuerySet
from chat.runs import stop_run, stop_session
from chat.search import matching
from copilot_site.authentication import Identity
from copilot_site.lib.errors import Conflict
from projects.access import project_for
from projects.models import Project, Role

_NOTHING = OpenApiResponse(description="Done; no body.")


class ProjectView(APIView):
    """Finds the project before anything else; a stranger's is 404."""

    role = Role.VIEWER
    project: Project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.project = project_for(
            cast(Identity, request.auth),
            kwargs["project_id"],
            role=self.role,
            server=request.headers.get("X-GNS3-Server", ""),
        )

    @property
    def person(self) -> User:
        """The permission classes have let nobody else in."""
        return cast(User, self.request.user)

    def session(self, request: Request) -> ChatSession:
        return session_for(self.person, self.project, self.kwargs["session_id"])


class SessionList(ProjectView):
    """My sessions in a project."""

    @property
    def mine(self) -> ChatSessionQuerySet:
        return ChatSession.objects.owned_by(self.person).filter(project=self.project)

    @extend_schema(
        parameters=[SessionPageSerializer], responses=ChatSessionSerializer(many=True)
    )
    def get(self, request: Request, project_id: str) -> Response:
        """Pinned first, newest first; `q` searches titles and messages."""
        page = SessionPageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        wanted = page.validated_data
        sessions = matching(self._filtered(wanted), wanted["q"]).listed()
        start, limit = wanted["offset"], wanted["limit"]
        if wanted["cursor"]:
            sessions = sessions.filter(ListCursor.parse(wanted["cursor"]).rest)
            start = 0
        active = Prefetch("runs", Run.objects.active(), to_attr="active_runs")
        newest = Run.objects.filter(session=OuterRef("pk")).order_by("-round")
        profile = Subquery(newest.values("profile")[:1])
        rows = (
            sessions.select_related("project")
            .prefetch_related(active)
            .annotate(newest_profile=Coalesce(profile, Value("")))
        )
        # One more than asked for: is there another page?
        found = list(rows[start : start + limit + 1])
        response = Response(ChatSessionSerializer(found[:limit], many=True).data)
        if len(found) > limit:
            response["X-Next-Cursor"] = str(ListCursor.after(found[limit - 1]))
        return response

    def _filtered(self, wanted: dict[str, Any]) -> ChatSessionQuerySet:
        sessions = self.mine
        if wanted["pinned"] is not None:
            sessions = sessions.filter(pinned=wanted["pinned"])
        if profile := wanted["profile"]:
            runs = Run.objects.filter(session=OuterRef("pk"), profile=profile)
            sessions = sessions.filter(Exists(runs))
        return sessions

    @extend_schema(request=NewSessionSerializer, responses={201: ChatSessionSerializer})
    def post(self, request: Request, project_id: str) -> Response:
        """An empty session."""
        form = NewSessionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        title = form.validated_data["title"].strip()
        session = ChatSession.objects.create(
            user=self.person,
            project=self.project,
            title=title,
            is_title_final=bool(title),
        )
        return Response(ChatSessionSerializer(session).data, status=201)

    @extend_schema(
        operation_id="projects_chat_sessions_destroy_all", responses={200: DeletedShape}
    )
    def delete(self, request: Request, project_id: str) -> Response:
        """All of mine in the project; what runs is stopped first."""
        return Response({"deleted": delete_sessions(self.mine)})


class SessionDetail(ProjectView):
    @extend_schema(responses=ChatSessionSerializer)
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """One of my sessions."""
        return Response(ChatSessionSerializer(self.session(request)).data)

    @extend_schema(request=TitleSerializer, responses=ChatSessionSerializer)
    def patch(self, request: Request, project_id: str, session_id: str) -> Response:
        """Rename: 1 to 255 characters after trimming."""
        session = self.session(request)
        form = TitleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        session.rename(form.validated_data["title"])
        return Response(ChatSessionSerializer(session).data)

    @extend_schema(responses={204: _NOTHING})
    def delete(self, request: Request, project_id: str, session_id: str) -> Response:
        """Stop what runs, then remove it; the ledger of tokens stays."""
        delete_session(self.session(request))
        return Response(status=204)


class SessionPin(ProjectView):
    @extend_schema(request=None, responses=ChatSessionSerializer)
    def put(self, request: Request, project_id: str, session_id: str) -> Response:
        """To the top of the list."""
        return self._pin(request, pinned=True)

    @extend_schema(responses={200: ChatSessionSerializer})
    def delete(self, request: Request, project_id: str, session_id: str) -> Response:
        """Back among the others."""
        return self._pin(request, pinned=False)

    def _pin(self, request: Request, *, pinned: bool) -> Response:
        session = self.session(request)
        session.pin(pinned=pinned)
        return Response(ChatSessionSerializer(session).data)


class SessionHistory(ProjectView):
    @extend_schema(parameters=[HistoryPageSerializer], responses=HistoryShape)
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """The newest messages, oldest first; `before` pages back."""
        session = self.session(request)
        page = HistoryPageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        before: uuid.UUID | None = page.validated_data["before"]
        border = session.messages.filter(pk=before).first() if before else None
        if before and border is None:
            raise serializers.ValidationError({"before": "No message of this session."})
        messages = newest_messages(
            session, limit=page.validated_data["limit"], before=border
        )
        return Response(
            {
                "thread_id": session.thread_id,
                "title": session.title,
                "messages": turns_of(session, messages),
                "created_at": session.created_at.isoformat(),
                "updated_at": session.updated_at.isoformat(),
                "llm_calls": session.llm_calls_count,
            }
        )


class SessionRuns(ProjectView):
    @extend_schema(responses=RunShape(many=True))
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """The newest hundred, newest first."""
        runs = self.session(request).runs.order_by("-round")[:100]
        return Response([run_json(run) for run in runs])


class SessionStop(ProjectView):
    role = Role.MEMBER

    @extend_schema(request=None, responses=StoppedShape)
    def post(self, request: Request, project_id: str, session_id: str) -> Response:
        """Stop what runs; what was said so far is kept."""
        return Response({"stopped": stop_session(self.session(request))})


class RunDetail(ProjectView):
    @extend_schema(responses=RunShape)
    def get(self, request: Request, project_id: str, run_id: str) -> Response:
        """One round."""
        return Response(run_json(run_for(self.person, self.project, run_id)))

    @extend_schema(responses={204: _NOTHING})
    def delete(self, request: Request, project_id: str, run_id: str) -> Response:
        """Take a waiting message out of the line."""
        run = run_for(self.person, self.project, run_id)
        if run.status != Status.PENDING or not stop_run(run, reason="withdrawn"):
            raise RunNotWaiting(
                gettext("Only a run that waits in line can be withdrawn.")
            )
        return Response(status=204)


class RunNotWaiting(Conflict):
    code = "run_not_waiting"
