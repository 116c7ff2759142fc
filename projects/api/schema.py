"""What the async views take and answer, for the API's description."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from projects.models import Project, Role


class ServerShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    is_simulated = serializers.BooleanField()


class ProjectShape(serializers.Serializer[Any]):
    """A GNS3 project, where it is, and your role in it."""

    project_id = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=Project.Status.choices)
    server = ServerShape()
    role = serializers.ChoiceField(choices=Role.choices, allow_null=True)


class NewProjectShape(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=255)
    server = serializers.CharField(
        required=False, help_text="Its name; needed where there are several."
    )


class TopologyProjectShape(serializers.Serializer[Any]):
    project_id = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.CharField()


class NodeShape(serializers.Serializer[Any]):
    node_id = serializers.UUIDField()
    name = serializers.CharField()
    node_type = serializers.CharField()
    status = serializers.CharField()
    console_type = serializers.CharField(allow_null=True)
    x = serializers.IntegerField()
    y = serializers.IntegerField()
    ports = serializers.ListField(child=serializers.CharField())


class LinkEndShape(serializers.Serializer[Any]):
    node_id = serializers.UUIDField()
    port = serializers.CharField()


class LinkShape(serializers.Serializer[Any]):
    link_id = serializers.UUIDField()
    ends = LinkEndShape(many=True)
    is_suspended = serializers.BooleanField()


class TopologyShape(serializers.Serializer[Any]):
    project = TopologyProjectShape()
    is_simulated = serializers.BooleanField()
    nodes = NodeShape(many=True)
    links = LinkShape(many=True)


class ProjectList(APIView):
    @extend_schema(responses=ProjectShape(many=True))
    def get(self, request: Request) -> Response:
        """Your projects on all servers."""
        raise NotImplementedError

    @extend_schema(request=NewProjectShape, responses={201: ProjectShape})
    def post(self, request: Request) -> Response:
        """A new one of yours, on the named server or on the only one."""
        raise NotImplementedError


class ProjectDetail(APIView):
    @extend_schema(responses=ProjectShape)
    def get(self, request: Request, project_id: str) -> Response:
        """One project, as its server has it now."""
        raise NotImplementedError

    @extend_schema(responses={204: OpenApiResponse(description="Deleted.")})
    def delete(self, request: Request, project_id: str) -> Response:
        """Delete it in GNS3, with all its conversations."""
        raise NotImplementedError


class ProjectOpen(APIView):
    @extend_schema(request=None, responses=ProjectShape)
    def post(self, request: Request, project_id: str) -> Response:
        """Open it in GNS3."""
        raise NotImplementedError


class ProjectClose(APIView):
    @extend_schema(request=None, responses=ProjectShape)
    def post(self, request: Request, project_id: str) -> Response:
        """Close it in GNS3."""
        raise NotImplementedError


class Topology(APIView):
    @extend_schema(responses=TopologyShape)
    def get(self, request: Request, project_id: str) -> Response:
        """Devices and links."""
        raise NotImplementedError


class TopologySvg(APIView):
    @extend_schema(responses={(200, "image/svg+xml"): OpenApiTypes.STR})
    def get(self, request: Request, project_id: str) -> Response:
        """The same as a picture."""
        raise NotImplementedError


# By the name of the address.
OPERATIONS: dict[str, type[APIView]] = {
    "project-list": ProjectList,
    "project-detail": ProjectDetail,
    "project-open": ProjectOpen,
    "project-close": ProjectClose,
    "topology": Topology,
    "topology-svg": TopologySvg,
}
