"""Addresses under /v3/memory."""

from django.urls import path

from chat.memory import api

urlpatterns = [
    path("memory", api.NoteList.as_view(), name="memory"),
    path("memory/<str:note_id>", api.NoteDetail.as_view(), name="memory-detail"),
]
