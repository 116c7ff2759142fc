from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from chat.api import urls as chat_api
from copilot_site import views
from projects.api import urls as projects_api

handler404 = "copilot_site.error_pages.not_found"
handler500 = "copilot_site.error_pages.server_error"

urlpatterns = [
    path("", include("chat.urls")),
    path("admin/", admin.site.urls),
    path(
        "login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"
    ),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("healthz", views.health, name="health"),
    path("v3/version", views.version, name="version"),
    path("v3/me", views.me, name="me"),
    path("v3/access/users/authenticate", views.log_in, name="authenticate"),
    path("v3/access/users/login", views.log_in, name="login-form"),
    path("v3/access/users/refresh", views.refresh_token, name="refresh"),
    path("v3/", include(projects_api)),
    path("v3/projects/<str:project_id>/chat/", include(chat_api)),
    # GNS3 3.1's own path for the same.
    path(
        "v3/copilot/projects/<str:project_id>/chat/",
        include((chat_api.urlpatterns, "gns3"), namespace="gns3"),
    ),
]
