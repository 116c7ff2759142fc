"""The frame of the async API views: known people, JSON bodies, errors as JSON."""

import functools
import json
from collections.abc import Callable, Coroutine
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase
from django.http.request import RawPostDataException
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import APIException

from copilot_site.api_errors import error_response
from copilot_site.authentication import identify
from copilot_site.lib.errors import UserFacingError

Answer = Coroutine[Any, Any, HttpResponseBase]


class BadRequest(UserFacingError):
    code = "bad_request"
    status = 400


class MethodNotAllowed(UserFacingError):
    code = "method_not_allowed"
    status = 405


class BodyTooLarge(UserFacingError):
    code = "body_too_large"
    status = 413


def api_view(*methods: str) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """An async view for known people; anticipated errors become JSON."""

    def decorate(view: Callable[..., Answer]) -> Callable[..., Answer]:
        @functools.wraps(view)
        async def wrapped(request: HttpRequest, **path: str) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(f"Allowed: {', '.join(methods)}.")
                identity = await identify(request)
                return await view(request, identity, **path)
            except (UserFacingError, APIException) as error:
                return error_response(error, request.path)

        # Cookies are checked by `identify`; bearers need no CSRF token.
        return csrf_exempt(wrapped)

    return decorate


def json_body(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object. Raises BadRequest, BodyTooLarge."""
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        raise BadRequest(gettext("The body is not JSON.")) from None
    except RequestDataTooBig:
        raise BodyTooLarge(gettext("The request is too large.")) from None
    except RawPostDataException:
        raise BadRequest(gettext("The body could not be read.")) from None
    if not isinstance(body, dict):
        raise BadRequest(gettext("The body is not a JSON object."))
    return body
