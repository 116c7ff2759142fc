"""Vectors from the site's own endpoint, and none where there is none."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from chat.knowledge import embed
from chat.knowledge.embed import EmbeddingsUnavailable, EndpointEmbedder
from chat.knowledge.ingest import add_document
from chat.knowledge.models import Collection
from chat.knowledge.search import search
from llmconfig.models import LLMConfig

KEY = "sk-of-the-embeddings-0123456789"


class Endpoint:
    """Answers one vector a text: how often it says lab, and how often food."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, Any], str]] = []
        self.status = 200
        self.body: Any = None
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                endpoint.requests.append((body, self.headers["Authorization"]))
                answer = json.dumps(endpoint.body or endpoint.vectors(body["input"]))
                self.send_response(endpoint.status)
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        rows = [
            {"index": at, "embedding": [text.count("lab") + 0.1, text.count("food")]}
            for at, text in enumerate(texts)
        ]
        # In any order: the index counts.
        return {"data": rows[::-1]}


@pytest.fixture
def endpoint(settings: Settings, transactional_db: None) -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.server.serve_forever, daemon=True)
    thread.start()
    settings.EMBEDDINGS = "endpoint"
    settings.LLM_PRIVATE_HOSTS = [f"127.0.0.1:{server.port}"]
    LLMConfig.objects.create(
        name="Vectors",
        base_url=f"http://127.0.0.1:{server.port}/v1/",
        model="embed-1",
        model_type="embedding",
        api_key=KEY,
    )
    yield server
    server.server.shutdown()
    server.server.server_close()
    thread.join()


def test_passages_and_questions_are_embedded_by_the_endpoint(
    endpoint: Endpoint, site: Collection
) -> None:
    add_document(site, "a.txt", b"lab lab")
    add_document(site, "b.txt", b"food food")

    hits = search("seafood", collections=Collection.objects.all())

    assert hits[0].passage.text == "food food"
    assert hits[0].passage.embedded_by.startswith("embed-1@http://127.0.0.1")
    body, key = endpoint.requests[0]
    assert (body["model"], key) == ("embed-1", f"Bearer {KEY}")
    assert "lab lab" in body["input"][0]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, None),
        (401, None),
        (200, {"data": []}),
        (200, ["?"]),
        (302, None),
        (200, {"data": [{"index": 0, "embedding": []}]}),
        (200, {"data": [{"index": 0, "embedding": [float("nan"), 1.0]}]}),
    ],
)
def test_a_broken_endpoint_is_told_and_words_still_find(
    endpoint: Endpoint, site: Collection, status: int, body: Any
) -> None:
    add_document(site, "a.txt", b"lab lab")
    endpoint.status, endpoint.body = status, body

    assert search("labs", collections=Collection.objects.all())
    failed = add_document(site, "b.txt", b"food")

    assert (failed.state, failed.error_code) == ("failed", "embeddings_unavailable")
    assert KEY not in failed.error
    model = embed.embedder()
    assert isinstance(model, EndpointEmbedder)
    with pytest.raises(EmbeddingsUnavailable):
        model.question("x")


def test_a_persons_own_config_embeds_nothing_of_the_site(
    endpoint: Endpoint, alice: Any
) -> None:
    LLMConfig.objects.update(user=alice)

    assert embed.embedder() is None


@pytest.mark.parametrize("value", ["off", "", "cloud"])
def test_embeddings_can_be_off(settings: Settings, value: str) -> None:
    settings.EMBEDDINGS = value

    assert embed.embedder() is None
