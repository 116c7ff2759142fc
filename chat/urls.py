"""The page's address; the REST API has its own in chat/api."""

from django.urls import path

from chat import views

app_name = "chat"
urlpatterns = [path("", views.page, name="page")]
