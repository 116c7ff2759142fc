from django.urls import path

from chat.api import conversations, grounded

_ONE = "chat/conversations/<str:conversation_id>"

urlpatterns = [
    path("chat", grounded.chat, name="grounded-chat"),
    path(
        "chat/conversations",
        conversations.ConversationList.as_view(),
        name="conversation-list",
    ),
    path(_ONE, conversations.ConversationDetail.as_view(), name="conversation-detail"),
    path(f"{_ONE}/events", grounded.events, name="conversation-events"),
    path(
        f"{_ONE}/stop",
        conversations.ConversationStop.as_view(),
        name="conversation-stop",
    ),
]
