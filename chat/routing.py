from django.urls import path, re_path

from chat.consumers import NotFoundConsumer, SessionConsumer, UserConsumer

websocket_urlpatterns = [
    path(
        "ws/v3/projects/<str:project_id>/chat/sessions/<str:session_id>",
        SessionConsumer.as_asgi(),
    ),
    path("ws/v3/me", UserConsumer.as_asgi()),
    re_path(r"^.*$", NotFoundConsumer.as_asgi()),
]
