from django.urls import path

from projects.api import views

urlpatterns = [
    path("projects", views.projects, name="project-list"),
    path("projects/<str:project_id>", views.project, name="project-detail"),
    path("projects/<str:project_id>/open", views.project_open, name="project-open"),
    path("projects/<str:project_id>/close", views.project_close, name="project-close"),
    path("projects/<str:project_id>/topology", views.topology, name="topology"),
    path(
        "projects/<str:project_id>/topology.svg",
        views.topology_svg,
        name="topology-svg",
    ),
]
