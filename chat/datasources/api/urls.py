from django.urls import path

from chat.datasources.api import views

urlpatterns = [
    path("data-sources", views.DataSourceList.as_view(), name="data-source-list"),
]
