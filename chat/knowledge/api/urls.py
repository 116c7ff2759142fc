"""Under /v3/knowledge/."""

from django.urls import path

from chat.knowledge.api import views

urlpatterns = [
    path("collections", views.CollectionList.as_view(), name="collection-list"),
    path(
        "collections/<str:collection_id>",
        views.CollectionDetail.as_view(),
        name="collection-detail",
    ),
    path(
        "collections/<str:collection_id>/documents",
        views.DocumentList.as_view(),
        name="document-list",
    ),
    path(
        "documents/<str:document_id>",
        views.DocumentDetail.as_view(),
        name="document-detail",
    ),
    path(
        "documents/<str:document_id>/content",
        views.DocumentContent.as_view(),
        name="document-content",
    ),
    path(
        "passages/<str:passage_id>",
        views.PassageDetail.as_view(),
        name="passage-detail",
    ),
    path("search", views.Search.as_view(), name="knowledge-search"),
]
