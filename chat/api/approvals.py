"""Decisions on changes: asked for in a session, made on a run."""

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.access import run_in
from chat.api.serializers import run_json
from chat.api.shapes import ApprovalShape, DecidedShape
from chat.api.views import ProjectView
from chat.approvals import decide
from chat.decision_form import DecisionsSerializer, as_decision
from chat.models import Approval
from copilot_site.authentication import Identity
from projects.access import secrets_for
from projects.models import Role

_MOST_SHOWN = 200


class SessionApprovals(ProjectView):
    @extend_schema(responses=ApprovalShape(many=True))
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """Decisions asked for in this session, newest first."""
        rows = Approval.objects.filter(run__session=self.session(request))
        rows = rows.select_related("tool_call", "decided_by").order_by("-requested_at")
        return Response([row.as_json() for row in rows[:_MOST_SHOWN]])


class RunApprovals(ProjectView):
    """Whoever may change the lab may decide; the first decision wins."""

    role = Role.ENGINEER

    @extend_schema(request=DecisionsSerializer, responses=DecidedShape)
    def post(self, request: Request, project_id: str, run_id: str) -> Response:
        """Approve or reject calls of a waiting run: all that are sent, or none."""
        form = DecisionsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        run = run_in(self.project, run_id)
        decided = decide(
            run=run,
            user=self.person,
            decisions=[as_decision(each) for each in form.validated_data["decisions"]],
            secrets=secrets_for(cast(Identity, request.auth), self.project),
        )
        return Response(
            {"run": run_json(run), "approvals": [row.as_json() for row in decided]}
        )
