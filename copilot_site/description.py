"""The API's own description: OpenAPI 3.1, made from the views and their addresses."""

import functools
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.urls import URLResolver, get_resolver
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator

from accounts import schema as accounts_schema
from chat.api import schema as chat_schema
from chat.api.event_schemas import event_schemas
from copilot_site import shapes
from llmconfig.api import shapes as llmconfig_shapes
from projects.api import schema as projects_schema

Schema = dict[str, Any]
Endpoint = tuple[str, str, str, Any]

_OPERATIONS = {
    **chat_schema.OPERATIONS,
    **projects_schema.OPERATIONS,
    **accounts_schema.OPERATIONS,
    **llmconfig_shapes.OPERATIONS,
    **shapes.OPERATIONS,
}
_ROOTS = ("/v3/", "/api/")
_ALIAS = "/v3/copilot/"
# In the body, which holds no names here.
_MAY_NAME_PROJECT = {"/v3/memory"}
_METHODS = ("get", "post", "put", "patch", "delete")
_TAGS = {
    "/llm-model-configs": "Models",
    "/chat/": "Chat",
    "/v3/knowledge": "Knowledge",
    "/v3/events": "Chat",
    "/api/chat": "Chat",
    "/v3/profiles": "Chat",
    "/v3/projects": "Projects",
    "/v3/access": "Access",
    "/v3/directory": "Directory",
    "/v3/data-sources": "Data",
    "/v3/memory": "Memory",
}
_ERRORS = {
    "400": "The request cannot be read, or nothing can answer it.",
    "401": "Nobody is logged in, or the token is not valid.",
    "403": "Your role does not allow it, the project is closed, or CSRF failed.",
    "404": "It does not exist, or not for you.",
    "409": "Not in the present state, or several servers have the project.",
    "413": "The request is too large.",
    "415": "The body is of a type that is not taken.",
    "422": "A value is not valid; `errors` names the fields.",
    "429": "Too many failures; `Retry-After` says when to try again.",
    "502": "The GNS3 server or the model does not answer as it should.",
    "503": "A part of the product does not answer; try again later.",
}


class Schemes(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """A bearer token, or the page's cookie."""

    target_class = "copilot_site.authentication.Authentication"
    name = ["bearer", "cookie"]

    def get_security_definition(self, auto_schema: Any) -> list[Schema]:
        return [
            {"type": "http", "scheme": "bearer"},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]


@functools.cache
def description() -> Schema:
    """Made once; nothing in it depends on the request."""
    made: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


def add_async_views(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Before: all views of the API, each at one address."""
    ours = [one for one in endpoints if one[0].startswith(_ROOTS)]
    for pattern, name in addresses(get_resolver()):
        if name in _OPERATIONS and pattern.startswith(_ROOTS):
            view = _OPERATIONS[name]
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern)
            ours = [one for one in ours if one[0] != path]
            ours += [
                (path, pattern, method.upper(), view.as_view())
                for method in _METHODS
                if hasattr(view, method)
            ]
    return [one for one in ours if not one[0].startswith(_ALIAS)]


def add_what_all_have(result: Schema, **kwargs: Any) -> Schema:
    """After: events, errors and groups."""
    schemas = result["components"].setdefault("schemas", {})
    schemas |= event_schemas() | {"Error": shapes.ERROR}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method not in _METHODS:
                continue
            operation["tags"] = [_tag(path)]
            # Either of the two; drf-spectacular would ask for both.
            ways: list[Schema] = operation.get("security", [])
            operation["security"] = [{name: []} for both in ways for name in both]
            for status in _statuses(path, operation):
                operation["responses"].setdefault(status, _error(status))
    return result


def addresses(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, str]]:
    """Of all views that have a name."""
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, path)
        elif pattern.name:
            yield path, pattern.name


def _tag(path: str) -> str:
    found = (tag for part, tag in _TAGS.items() if part in path)
    return next(found, "Site")


def _statuses(path: str, operation: Schema) -> set[str]:
    """Which errors an operation may answer, by what it takes."""
    found: set[str] = set()
    if operation["security"]:
        found |= {"401", "403"}
    if "{" in path:
        found |= {"404", "422"}
    if any(one["in"] == "query" for one in operation.get("parameters", [])):
        found |= {"400", "422"}
    if path.endswith(("/authenticate", "/login", "/refresh")):
        found |= {"401", "429"}
    names = {one["name"] for one in operation.get("parameters", [])}
    if (
        path.startswith("/v3/projects")
        or path in _MAY_NAME_PROJECT
        or ("project_id" in names)
    ):
        # The project, or the server that is to hold a new one.
        found |= {"404", "409", "502", "503"}
    if "/llm-model-configs" in path and "requestBody" in operation:
        # Another version, or what the provider says.
        found |= {"409", "502"}
    if "requestBody" in operation:
        found |= {"400", "413", "415", "422"}
    if path.startswith("/api/"):
        # There, what is not valid is a bad request.
        found = {"400" if status == "422" else status for status in found}
    return found


def _error(status: str) -> Schema:
    reference = {"$ref": "#/components/schemas/Error"}
    return {
        "description": _ERRORS[status],
        "content": {"application/json": {"schema": reference}},
    }
