"""Addresses under /v3/directory/; the pages for people are in page_urls."""

from django.urls import path

from chat.directory import api

urlpatterns = [
    path("kinds", api.KindList.as_view(), name="directory-kinds"),
    path(
        "records/<str:record_id>",
        api.RecordDetail.as_view(),
        name="directory-record-detail",
    ),
    path("<str:kind>", api.RecordList.as_view(), name="directory-list"),
]
