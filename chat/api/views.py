"""Sessions, their history and their runs: parse, authorise, one call, answer."""

import uuid
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Prefetch, Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.access import run_for, session_for
from chat.api.serializers import (
    ChatSessionSerializer,
    NewSessionSerializer,
    TitleSerializer,
    run_json,
)
from chat.history import newest_messages, openai_message
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from chat.runs import delete_session, stop_run, stop_session
from copilot_site.authentication import Identity
from copilot_site.lib.errors import Conflict
from projects.access import project_for
from projects.models import Project, Role


class PageSerializer(serializers.Serializer[Any]):
    """Query parameters of the session list."""

    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)
    q = serializers.CharField(required=False, max_length=200, default="")
    pinned = serializers.BooleanField(required=False, allow_null=True, default=None)


class HistoryPageSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=100)
    before = serializers.UUIDField(required=False, default=None)


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

    def get(self, request: Request, project_id: str) -> Response:
        """Pinned first, newest first; `q` searches titles and messages."""
        page = PageSerializer(data=request.query_params)
        page.is_valid(raise_exception=True)
        wanted = page.validated_data
        sessions = ChatSession.objects.owned_by(request.user).filter(
            project=self.project
        )
        if wanted["pinned"] is not None:
            sessions = sessions.filter(pinned=wanted["pinned"])
        if text := wanted["q"].strip():
            found = Message.objects.filter(content__icontains=text).values("session")
            sessions = sessions.filter(Q(title__icontains=text) | Q(pk__in=found))
        start = wanted["offset"]
        active = Prefetch("runs", Run.objects.active(), to_attr="active_runs")
        rows = (
            sessions.listed()
            .select_related("project")
            .prefetch_related(active)[start : start + wanted["limit"]]
        )
        return Response(ChatSessionSerializer(rows, many=True).data)

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


class SessionDetail(ProjectView):
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        return Response(ChatSessionSerializer(self.session(request)).data)

    def patch(self, request: Request, project_id: str, session_id: str) -> Response:
        """Rename: 1 to 255 characters after trimming."""
        session = self.session(request)
        form = TitleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        session.rename(form.validated_data["title"])
        return Response(ChatSessionSerializer(session).data)

    def delete(self, request: Request, project_id: str, session_id: str) -> Response:
        delete_session(self.session(request))
        return Response(status=204)


class SessionPin(ProjectView):
    def put(self, request: Request, project_id: str, session_id: str) -> Response:
        return self._pin(request, pinned=True)

    def delete(self, request: Request, project_id: str, session_id: str) -> Response:
        return self._pin(request, pinned=False)

    def _pin(self, request: Request, *, pinned: bool) -> Response:
        session = self.session(request)
        session.pin(pinned=pinned)
        return Response(ChatSessionSerializer(session).data)


class SessionHistory(ProjectView):
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
                "messages": [openai_message(message) for message in messages],
                "created_at": session.created_at.isoformat(),
                "updated_at": session.updated_at.isoformat(),
                "llm_calls": session.llm_calls_count,
            }
        )


class SessionRuns(ProjectView):
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """The newest hundred, newest first."""
        runs = self.session(request).runs.order_by("-round")[:100]
        return Response([run_json(run) for run in runs])


class SessionStop(ProjectView):
    role = Role.MEMBER

    def post(self, request: Request, project_id: str, session_id: str) -> Response:
        """Stop what runs; what was said so far is kept."""
        return Response({"stopped": stop_session(self.session(request))})


class SessionApprovals(ProjectView):
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """Decisions asked for in this session, newest first."""
        session = self.session(request)
        approvals = [
            {
                "id": str(approval.pk),
                "run_id": str(approval.run_id),
                "tool_call_id": approval.tool_call.call_id,
                "tool_name": approval.tool_call.name,
                "status": approval.status,
                "requested_at": approval.requested_at.isoformat(),
            }
            for run in session.runs.order_by("-round")[:20].prefetch_related(
                "approvals__tool_call"
            )
            for approval in run.approvals.all()
        ]
        return Response(approvals)


class RunDetail(ProjectView):
    def get(self, request: Request, project_id: str, run_id: str) -> Response:
        return Response(run_json(run_for(self.person, self.project, run_id)))

    def delete(self, request: Request, project_id: str, run_id: str) -> Response:
        """Take a waiting message out of the line."""
        run = run_for(self.person, self.project, run_id)
        if run.status != Status.PENDING or not stop_run(run, reason="withdrawn"):
            raise RunNotWaiting("Only a run that waits in line can be withdrawn.")
        return Response(status=204)


class RunNotWaiting(Conflict):
    code = "run_not_waiting"
