from django.urls import path

from chat.api import approvals, export, feedback, stream, views
from chat.documents.api.urls import urlpatterns as documents

_SESSION = "sessions/<str:session_id>"

urlpatterns = [
    path("stream", stream.stream, name="stream"),
    path("sessions", views.SessionList.as_view(), name="session-list"),
    path(_SESSION, views.SessionDetail.as_view(), name="session-detail"),
    path(f"{_SESSION}/pin", views.SessionPin.as_view(), name="session-pin"),
    path(f"{_SESSION}/history", views.SessionHistory.as_view(), name="session-history"),
    path(f"{_SESSION}/events", stream.events, name="session-events"),
    path(f"{_SESSION}/export", export.SessionExport.as_view(), name="session-export"),
    path(f"{_SESSION}/runs", views.SessionRuns.as_view(), name="session-runs"),
    path(f"{_SESSION}/stop", views.SessionStop.as_view(), name="session-stop"),
    path(f"{_SESSION}/abort", views.SessionStop.as_view(), name="session-abort"),
    path(
        f"{_SESSION}/approvals",
        approvals.SessionApprovals.as_view(),
        name="session-approvals",
    ),
    path(
        "messages/<str:message_id>/feedback",
        feedback.MessageFeedback.as_view(),
        name="message-feedback",
    ),
    path(
        "runs/<str:run_id>/approvals",
        approvals.RunApprovals.as_view(),
        name="run-approvals",
    ),
    path("runs/<str:run_id>", views.RunDetail.as_view(), name="run-detail"),
    *documents,
]
