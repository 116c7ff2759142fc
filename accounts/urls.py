from django.urls import path

from accounts import api

urlpatterns = [
    path("users/authenticate", api.log_in, name="authenticate"),
    path("users/login", api.log_in, name="login-form"),
    path("users/refresh", api.refresh, name="refresh"),
    path("users/logout", api.log_out, name="api-logout"),
    path("users/me", api.who_am_i, name="who-am-i"),
    path("api-keys", api.ApiTokenList.as_view(), name="api-token-list"),
    path(
        "api-keys/<int:token_id>", api.ApiTokenDetail.as_view(), name="api-token-detail"
    ),
]
