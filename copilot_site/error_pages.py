"""Pages for people, JSON for programs."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from copilot_site.api_errors import not_found as not_found_json
from copilot_site.api_errors import server_error as server_error_json


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return not_found_json(request)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if _is_api(request):
        return server_error_json(request)
    return defaults.server_error(request)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith(("/v3/", "/api/"))
