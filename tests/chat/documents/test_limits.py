"""Where documents are uploaded, bodies may be large; nowhere else."""

from typing import Any

import pytest

from copilot_site.limits import BodyLimit, Message, Receive, Scope, Send


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v3/knowledge/collections/1/documents", 200),
        ("/copilot/v3/knowledge/documents/1", 200),
        ("/v3/projects/1/chat/sessions/2/documents", 200),
        ("/admin/knowledge/document/add/", 200),
        ("/admin/knowledge/document/1/change/", 200),
        ("/v3/projects/1/chat/stream", 413),
        ("/v3/knowledge/search", 413),
        ("/v3/knowledge/documents/1/content", 413),
        ("/login/", 413),
    ],
)
async def test_only_uploads_may_be_large(path: str, status: int) -> None:
    sent: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"path": path, "headers": [(b"content-length", b"500")]}
    await BodyLimit(app, 100, 1_000)(scope, receive, send)
    assert sent[0]["status"] == status

    sent.clear()
    scope["headers"] = [(b"content-length", b"1001")]
    await BodyLimit(app, 100, 1_000)(scope, receive, send)
    assert sent[0]["status"] == 413
