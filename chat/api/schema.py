"""What the async views take and answer, for the API's description.

drf-spectacular reads views of the REST framework only; these stand for the others.
"""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.api.grounded_shapes import GroundedRequestSerializer
from chat.api.serializers import ChatRequestSerializer
from chat.api.shapes import AcceptedShape, WholeAnswerShape

_SSE = (200, "text/event-stream")
_EVENT = {"$ref": "#/components/schemas/Event"}
_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="A repeated request with it is the same run; yours in this project.",
)
_PREFER = OpenApiParameter(
    "Prefer",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="`respond-async`: 202 at once, the address to follow in `Location`.",
)
_CURSORS = [
    OpenApiParameter(
        "after",
        OpenApiTypes.STR,
        description="Cursor `<round>.<seq>` of the last event seen.",
    ),
    OpenApiParameter(
        "Last-Event-ID",
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        description="The same, as browsers send it.",
    ),
]


class Stream(APIView):
    @extend_schema(
        request=ChatRequestSerializer,
        parameters=[_KEY, _PREFER],
        responses={
            _SSE: _EVENT,
            (200, "application/json"): WholeAnswerShape,
            202: AcceptedShape,
        },
    )
    def post(self, request: Request, project_id: str) -> Response:
        """Ask. Events by default; one JSON object at the end with `stream: false`."""
        raise NotImplementedError


class GroundedChat(APIView):
    @extend_schema(
        request=GroundedRequestSerializer,
        parameters=[_KEY],
        responses={_SSE: _EVENT},
    )
    def post(self, request: Request) -> Response:
        """Ask for an answer from evidence. Events have names; text comes as `token`."""
        raise NotImplementedError


class ConversationEvents(APIView):
    @extend_schema(
        parameters=_CURSORS,
        responses={
            _SSE: _EVENT,
            204: OpenApiResponse(description="Over, and fully read."),
        },
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """Follow the newest run of a conversation from a cursor on."""
        raise NotImplementedError


class SessionEvents(APIView):
    @extend_schema(
        parameters=_CURSORS,
        responses={
            _SSE: _EVENT,
            204: OpenApiResponse(description="Over, and fully read."),
        },
    )
    def get(self, request: Request, project_id: str, session_id: str) -> Response:
        """Follow the newest run of a session from a cursor on."""
        raise NotImplementedError


class UserEvents(APIView):
    @extend_schema(responses={_SSE: {"$ref": "#/components/schemas/UserNews"}})
    def get(self, request: Request) -> Response:
        """News of all your sessions, from now on; nothing is replayed."""
        raise NotImplementedError


# By the name of the address.
OPERATIONS: dict[str, type[APIView]] = {
    "stream": Stream,
    "session-events": SessionEvents,
    "user-events": UserEvents,
    "grounded-chat": GroundedChat,
    "conversation-events": ConversationEvents,
}
