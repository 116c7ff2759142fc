"""People with a browser see pages; whoever does not ask for HTML gets JSON."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, BrowsableAPIRenderer
from rest_framework.request import Request


class HtmlOnRequest(DefaultContentNegotiation):
    """HTML only where `Accept` names it; never 406."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        known = list(renderers)
        wants_html = "text/html" in request.headers.get("Accept", "")
        pages = [one for one in known if one.media_type == "text/html"]
        chosen = pages[0] if wants_html and pages else known[0]
        return chosen, str(chosen.media_type)


class PageRenderer(BrowsableAPIRenderer):
    """The REST framework's pages without the inline style, which our CSP refuses."""

    def get_context(
        self, data: Any, accepted_media_type: Any, renderer_context: Any
    ) -> dict[str, Any]:
        context = super().get_context(data, accepted_media_type, renderer_context)
        return {**context, "code_style": None}
