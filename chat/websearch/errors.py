"""What a person and a model are told of a search that failed; it names the provider."""

from copilot_site.lib.errors import UserFacingError


class WebSearchFailed(UserFacingError):
    """The provider's fault or the network's; nobody else is asked instead."""

    code = "web_search_failed"
    status = 502
