"""Tavily's search API: pages with their whole text."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import httpx
import orjson

from chat.websearch.errors import WebSearchFailed
from chat.websearch.page import Page
from copilot_site.lib.outbound import Reach, outside_client, place_of
from copilot_site.lib.secret_values import remember

_LARGEST = 8 * 1024 * 1024
_MOST_DOMAINS = 150
_LONGEST_TITLE = 300
_REFUSED = (401, 403)
# Too many at once; and two kinds of a plan that is used up.
_USED_UP = (429, 432, 433)


class TavilyProvider:
    """Its key leaves in a header, to the one address that the environment names."""

    name: ClassVar[str] = "tavily"

    def __init__(self, *, url: str, key: str, timeout: float) -> None:
        self._url, self._key, self._timeout = url.rstrip("/"), remember(key), timeout
        host, port = place_of(url)
        # Who may set the environment has listed it by that.
        self._reach = Reach(frozenset({(host, str(port))}))

    async def find(
        self, query: str, *, limit: int, options: Mapping[str, Any]
    ) -> list[Page]:
        """Raises WebSearchFailed."""
        body = {
            "query": query,
            "max_results": limit,
            "search_depth": options.get("depth", "basic"),
            "topic": options.get("topic", "general"),
            "include_raw_content": "markdown",
            "include_domains": list(options.get("include_domains", ()))[:_MOST_DOMAINS],
            "exclude_domains": list(options.get("exclude_domains", ()))[:_MOST_DOMAINS],
        }
        if days := options.get("days"):
            body["days"] = days
        try:
            async with asyncio.timeout(self._timeout):
                status, data = await self._post(body)
        except TimeoutError:
            raise WebSearchFailed(
                f"Tavily did not answer within {self._timeout:.0f} s."
            ) from None
        except httpx.HTTPError as error:
            raise WebSearchFailed("Tavily cannot be reached.") from error
        if status != 200:
            raise WebSearchFailed(_told(status))
        return _pages(data)

    async def _post(self, body: dict[str, Any]) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._key}"}
        async with (
            outside_client(self._reach, timeout=self._timeout, connections=1) as client,
            client.stream(
                "POST", f"{self._url}/search", json=body, headers=headers
            ) as response,
        ):
            data = bytearray()
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > _LARGEST:
                    raise WebSearchFailed("Tavily's answer is too large.")
            return response.status_code, bytes(data)


def _told(status: int) -> str:
    if status in _REFUSED:
        return "Tavily refuses the site's key. An operator has to look at it."
    if status in _USED_UP:
        return f"Tavily's limit of searches is reached (status {status})."
    return f"Tavily answered with status {status}."


def _pages(data: bytes) -> list[Page]:
    try:
        results = orjson.loads(data)["results"]
    except (ValueError, KeyError, TypeError):
        raise WebSearchFailed("Tavily's answer cannot be read.") from None
    if not isinstance(results, Sequence):
        raise WebSearchFailed("Tavily's answer cannot be read.")
    return [_page(one) for one in results if isinstance(one, dict)]


def _page(one: dict[str, Any]) -> Page:
    score = one.get("score")
    return Page(
        url=_text(one, "url"),
        title=" ".join(_text(one, "title").split())[:_LONGEST_TITLE],
        excerpt=_text(one, "content"),
        text=_text(one, "raw_content"),
        published=_text(one, "published_date"),
        score=float(score) if isinstance(score, int | float) else 0.0,
    )


def _text(one: dict[str, Any], name: str) -> str:
    value = one.get(name)
    return value.replace("\x00", "") if isinstance(value, str) else ""
