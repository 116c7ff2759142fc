"""Below /v3/access/, as in GNS3."""

from django.urls import path

from llmconfig.api import trying, views

_USER = "users/<str:user_id>/llm-model-configs"
_GROUP = "groups/<str:group_id>/llm-model-configs"

urlpatterns = [
    path(_USER, views.UserConfigs.as_view(), name="user-llm-configs"),
    path(f"{_USER}/own", views.UserOwnConfigs.as_view(), name="user-llm-configs-own"),
    path(
        f"{_USER}/default", views.UserDefault.as_view(), name="user-llm-config-default"
    ),
    path(f"{_USER}/test", trying.test_connection, name="user-llm-config-test"),
    path(f"{_USER}/models", trying.models, name="user-llm-config-models"),
    path(
        f"{_USER}/default/<str:config_id>",
        views.UserMakeDefault.as_view(),
        name="user-llm-config-make-default",
    ),
    path(
        f"{_USER}/<str:config_id>",
        views.UserConfig.as_view(),
        name="user-llm-config-detail",
    ),
    path(_GROUP, views.GroupConfigs.as_view(), name="group-llm-configs"),
    path(
        f"{_GROUP}/default",
        views.GroupDefault.as_view(),
        name="group-llm-config-default",
    ),
    path(f"{_GROUP}/test", trying.test_connection, name="group-llm-config-test"),
    path(f"{_GROUP}/models", trying.models, name="group-llm-config-models"),
    path(
        f"{_GROUP}/default/<str:config_id>",
        views.GroupMakeDefault.as_view(),
        name="group-llm-config-make-default",
    ),
    path(
        f"{_GROUP}/<str:config_id>",
        views.GroupConfig.as_view(),
        name="group-llm-config-detail",
    ),
]
