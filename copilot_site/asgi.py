"""One door for HTTP and sockets."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
# Apps are loaded before anything that imports their models.
django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402 (see above)
from django.conf import settings  # noqa: E402 (see above)

from chat.routing import websocket_urlpatterns  # noqa: E402 (see above)
from copilot_site.limits import BodyLimit  # noqa: E402 (see above)

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(
            django_application,
            settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            # With what a form needs around its file.
            settings.DOCUMENT_BYTES + 64 * 1024,
        ),
        "websocket": URLRouter(websocket_urlpatterns),
    }
)
