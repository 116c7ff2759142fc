from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from accounts.language import LoginPage
from accounts.pages import throttled
from accounts.preferences import Preferences
from chat.api import urls as chat_api
from chat.api.user_events import user_events
from chat.directory import page_urls as directory_pages
from chat.directory import urls as directory_api
from chat.knowledge.pages import documents as knowledge_page
from chat.memory import urls as memory_api
from chat.memory.pages import memory as memory_page
from copilot_site import openapi, views
from copilot_site.settings_page import settings_page
from projects.api import urls as projects_api

login_page = LoginPage.as_view()

handler404 = "copilot_site.error_pages.not_found"
handler500 = "copilot_site.error_pages.server_error"

urlpatterns = [
    path("", include("chat.urls")),
    path("admin/login/", throttled(admin.site.login)),
    path("admin/", admin.site.urls),
    path("login/", throttled(login_page), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("texts/<str:language>.js", views.texts, name="texts"),
    path("healthz", views.health, name="health"),
    path("v3/version", views.version, name="version"),
    path("v3/me", views.me, name="me"),
    path("v3/me/preferences", Preferences.as_view(), name="preferences"),
    path("v3/events", user_events, name="user-events"),
    path("v3/openapi.json", openapi.openapi_json, name="openapi"),
    path("v3/docs", openapi.docs, name="docs"),
    path("v3/access/", include("accounts.urls")),
    path("v3/access/", include("llmconfig.api.urls")),
    path("directory/", include(directory_pages)),
    path("v3/directory/", include(directory_api)),
    path("settings/", settings_page, name="settings"),
    path("settings/memory/", memory_page, name="memory-page"),
    path("v3/", include(memory_api)),
    path("knowledge/", knowledge_page, name="knowledge-page"),
    path("v3/knowledge/", include("chat.knowledge.api.urls")),
    path("v3/", include("chat.datasources.api.urls")),
    path("v3/", include(projects_api)),
    path("v3/", include("chat.profiles.api.urls")),
    path("api/", include("chat.api.grounded_urls")),
    path("v3/projects/<str:project_id>/chat/", include(chat_api)),
    # GNS3 3.1's own path for the same.
    path(
        "v3/copilot/projects/<str:project_id>/chat/",
        include((chat_api.urlpatterns, "gns3"), namespace="gns3"),
    ),
]
