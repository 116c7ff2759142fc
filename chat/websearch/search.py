"""The port `WebSearch` of this site: its provider, its domains, its limits."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from django.conf import settings

from chat.agent.tools.kit import Passage
from chat.websearch.domains import Domains, host_of
from chat.websearch.page import Page
from chat.websearch.tavily import TavilyProvider
from copilot_site.lib.secret_values import mask
from projects.consoles.redaction import redact


class Provider(Protocol):
    """Finds pages. Raises WebSearchFailed."""

    @property
    def name(self) -> str: ...

    async def find(
        self, query: str, *, limit: int, options: Mapping[str, Any]
    ) -> list[Page]: ...


@dataclass(frozen=True)
class SiteSearch:
    """One provider; where it fails the search fails, and no other is asked."""

    _provider: Provider
    _allowed: tuple[str, ...]
    _denied: tuple[str, ...]
    _length: int
    _most: int

    @property
    def provider(self) -> str:
        return self._provider.name

    async def search(
        self, query: str, *, limit: int = 5, options: Mapping[str, Any] | None = None
    ) -> list[Passage]:
        """Pages of allowed domains with their text. Raises WebSearchFailed."""
        wanted = dict(options or {})
        own = tuple(wanted.get("include_domains", ()))
        denied = (*self._denied, *wanted.get("exclude_domains", ()))
        domains = Domains((self._allowed, own), denied)
        wanted["include_domains"] = own or self._allowed
        wanted["exclude_domains"] = denied
        limit = min(max(limit, 1), self._most)
        # The query leaves the site.
        pages = await self._provider.find(
            redact(mask(query)), limit=limit, options=wanted
        )
        # What was asked for is no proof of what came.
        fit = [page for page in pages if domains.let_through(page.url)][:limit]
        return [self._passage(page) for page in fit]

    def _passage(self, page: Page) -> Passage:
        text = page.shortened(self._length)
        digest = hashlib.sha256(f"{page.url}\n{text}".encode()).hexdigest()[:32]
        return Passage(
            id=f"web:{digest}",
            kind="web",
            title=page.title or page.url,
            text=text,
            location=host_of(page.url),
            url=page.url,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            score=page.score,
        )


def web_search() -> SiteSearch | None:
    """None without a provider or its key: then the tool is not offered."""
    if not settings.WEB_SEARCH_PROVIDER or not settings.TAVILY_API_KEY:
        return None
    provider = TavilyProvider(
        url=settings.TAVILY_URL,
        key=settings.TAVILY_API_KEY,
        timeout=settings.WEB_SEARCH_SECONDS,
    )
    return SiteSearch(
        provider,
        tuple(settings.WEB_SEARCH_ALLOW),
        tuple(settings.WEB_SEARCH_DENY),
        settings.WEB_SEARCH_LENGTH,
        settings.WEB_SEARCH_RESULTS,
    )
