"""The directory's pages for people; its REST API is in urls."""

from django.urls import path

from chat.directory import pages

urlpatterns = [
    path("", pages.kinds, name="directory"),
    path("records/<uuid:record_id>/", pages.record, name="directory-record"),
    path("<str:slug>/", pages.records, name="directory-records"),
]
