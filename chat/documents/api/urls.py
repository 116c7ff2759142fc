"""Under the addresses of a project's chat."""

from django.urls import path

from chat.documents.api import views

_DOCUMENTS = "sessions/<str:session_id>/documents"

urlpatterns = [
    path(_DOCUMENTS, views.SessionDocumentList.as_view(), name="session-document-list"),
    path(
        f"{_DOCUMENTS}/<str:document_id>",
        views.SessionDocumentDetail.as_view(),
        name="session-document-detail",
    ),
    path(
        f"{_DOCUMENTS}/<str:document_id>/content",
        views.SessionDocumentContent.as_view(),
        name="session-document-content",
    ),
]
