"""Vectors from an OpenAI-compatible endpoint: the site's config of type embedding."""

import asyncio
import math
from collections.abc import Sequence

import httpx

from copilot_site.lib.errors import Unavailable
from copilot_site.lib.fields import Unreadable
from copilot_site.lib.outbound import AddressRefused, outside_client, reach
from copilot_site.lib.secret_values import remember
from llmconfig.clients import normalised
from llmconfig.kinds import ModelType
from llmconfig.models import LLMConfig

_SECONDS = 30.0


class EmbeddingFailed(Unavailable):
    """Says what is wrong, without what the endpoint wrote."""

    code = "embedding_failed"


class EmbeddingEndpoint:
    """One config's address; a call is a request."""

    def __init__(self, config: LLMConfig) -> None:
        self._config = config
        self._url = f"{normalised(config.base_url).removesuffix('/embeddings')}"
        # What makes vectors comparable: the model, and who runs it.
        self.name = f"{config.model}@{self._url}"[:100]

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """In the order of the texts; call it in a thread. Raises EmbeddingFailed."""
        return asyncio.run(self._embed(list(texts)))

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        config = self._config
        if isinstance(config.api_key, Unreadable):
            raise EmbeddingFailed("The stored key of the embeddings can't be read.")
        headers = {"Authorization": f"Bearer {remember(config.api_key or 'none')}"}
        try:
            # A client belongs to one loop, and this one ends with the call.
            async with outside_client(
                reach(is_trusted=config.is_trusted), timeout=_SECONDS, connections=1
            ) as client:
                response = await client.post(
                    f"{self._url}/embeddings",
                    json={"model": config.model, "input": texts},
                    headers=headers,
                )
            response.raise_for_status()
            rows = sorted(response.json()["data"], key=lambda row: int(row["index"]))
            found = [[float(number) for number in row["embedding"]] for row in rows]
        except AddressRefused as error:
            raise EmbeddingFailed(str(error)) from None
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise EmbeddingFailed(f"The embeddings answer {status}.") from None
        except httpx.HTTPError:
            raise EmbeddingFailed("The embeddings do not answer.") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EmbeddingFailed("The embeddings answer something else.") from None
        if len(found) != len(texts) or len({len(vector) for vector in found}) != 1:
            raise EmbeddingFailed("The embeddings answer too few vectors.")
        if not all(vector and all(map(math.isfinite, vector)) for vector in found):
            raise EmbeddingFailed("The embeddings answer something else.")
        return found


def embedding_endpoint() -> EmbeddingEndpoint | None:
    """The site's: no person's own key reads everybody's documents."""
    configs = LLMConfig.objects.filter(
        user=None, group=None, is_enabled=True, model_type=ModelType.EMBEDDING
    )
    config = configs.order_by("-is_default", "priority", "pk").first()
    return EmbeddingEndpoint(config) if config else None
