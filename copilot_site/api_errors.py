"""Errors at the edge: always {"code", "message"}, and GNS3's `detail` besides."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.translation import gettext, gettext_noop
from rest_framework import exceptions
from rest_framework.response import Response

from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.secret_values import mask

logger = logging.getLogger(__name__)

_UNKNOWN = ("internal_error", gettext_noop("Something went wrong."), 500)


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's translator; None lets a bug become a 500 of Django's own."""
    path = context["request"].path
    code, message, status, extra = _parts(error, path)
    if status == 500:
        logger.error("Request to %s failed", path, exc_info=error)
    response = Response(_body(code, message, extra), status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    # The rows of a request that failed must not stay half written.
    from rest_framework.views import set_rollback

    set_rollback()
    return response


def error_response(error: Exception, path: str = "") -> JsonResponse:
    """The same for the async views."""
    code, message, status, extra = _parts(error, path)
    response = JsonResponse(_body(code, message, extra), status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if seconds := getattr(error, "retry_after", None):
        response["Retry-After"] = str(seconds)
    return response


def server_error(request: HttpRequest) -> JsonResponse:
    code, message, status = _UNKNOWN
    return JsonResponse(_body(code, gettext(message), {}), status=status)


def not_found(request: HttpRequest) -> JsonResponse:
    body = _body("not_found", gettext("There is no such page."), {})
    return JsonResponse(body, status=404)


def _body(code: str, message: str, extra: dict[str, Any]) -> dict[str, Any]:
    message = mask(message)
    return {"code": code, "message": message, "detail": message, **extra}


def _parts(error: Exception, path: str) -> tuple[str, str, int, dict[str, Any]]:
    match error:
        case UserFacingError():
            run_id = getattr(error, "run_id", None)
            extra = {"run_id": run_id} if run_id else {}
            return error.code, str(error), error.status, extra
        case exceptions.ValidationError():
            status = 400 if path.startswith("/api/") else 422
            errors = list(_flatten(error.detail))
            message = "; ".join(f"{field}: {text}" for field, text in errors[:5])
            fields = [{"field": field, "message": text} for field, text in errors]
            return "validation_error", message, status, {"errors": fields}
        case exceptions.APIException():
            return _code(error), str(error.detail), error.status_code, {}
        case Http404():
            return "not_found", gettext("There is no such object."), 404, {}
        case PermissionDenied():
            return "forbidden", gettext("You may not do this."), 403, {}
    code, message, status = _UNKNOWN
    return code, gettext(message), status, {}


def _code(error: exceptions.APIException) -> str:
    codes = error.get_codes()
    return codes if isinstance(codes, str) else "error"


def _flatten(detail: Any, path: str = "") -> Any:
    if isinstance(detail, dict):
        for key, value in detail.items():
            yield from _flatten(value, f"{path}.{key}".strip("."))
    elif isinstance(detail, list):
        for value in detail:
            yield from _flatten(value, path)
    else:
        yield path or "request", str(detail)
