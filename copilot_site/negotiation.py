"""People with a browser see pages; whoever does not ask for HTML gets JSON."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
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
