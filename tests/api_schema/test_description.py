"""The description knows every address, and says of each what it takes and answers."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from jsonschema import Draft202012Validator

from chat.events.vocabulary import EVENT_TYPES
from copilot_site.description import addresses

# Not of the API: the description itself.
APART = {"/v3/openapi.json", "/v3/docs"}


@pytest.fixture
def described() -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/v3/openapi.json").json()
    return found


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_address_of_the_api_is_described_once(described: dict[str, Any]) -> None:
    served = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)
        for path, _ in addresses(get_resolver())
        if path.startswith(("/v3/", "/api/"))
    }

    expected = {path for path in served - APART if not path.startswith("/v3/copilot/")}
    assert set(described["paths"]) == expected


def test_it_is_openapi_3_1_with_both_ways_to_log_in(described: dict[str, Any]) -> None:
    assert described["openapi"] == "3.1.0"
    assert set(described["components"]["securitySchemes"]) == {"bearer", "cookie"}
    assert described["paths"]["/v3/me"]["get"]["security"] == [
        {"bearer": []},
        {"cookie": []},
    ]
    assert described["paths"]["/v3/version"]["get"]["security"] == []


def test_chat_is_one_group(described: dict[str, Any]) -> None:
    groups = {
        path: operation["tags"]
        for name, operation in operations(described)
        if "/chat/" in (path := name.split()[1])
    }

    assert len(groups) >= 12
    assert {tag for tags in groups.values() for tag in tags} == {"Chat"}


def test_every_operation_has_a_name_a_text_and_error_shapes(
    described: dict[str, Any],
) -> None:
    names = [operation["operationId"] for _, operation in operations(described)]
    assert len(names) == len(set(names))
    for name, operation in operations(described):
        assert operation.get("description"), name
        for status, response in operation["responses"].items():
            if status >= "400":
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Error"}, name


def test_streams_are_described_by_the_events_of_the_vocabulary(
    described: dict[str, Any],
) -> None:
    schemas = described["components"]["schemas"]
    for path, method in (
        ("/v3/projects/{project_id}/chat/stream", "post"),
        ("/v3/projects/{project_id}/chat/sessions/{session_id}/events", "get"),
    ):
        answers = described["paths"][path][method]["responses"]["200"]["content"]
        schema = answers["text/event-stream"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Event"}

    mapping = schemas["Event"]["discriminator"]["mapping"]
    assert set(mapping) == {*EVENT_TYPES, "heartbeat"}
    for kind, reference in mapping.items():
        schema = schemas[reference.rsplit("/", 1)[1]]
        assert schema["properties"]["type"] == {"const": kind}
        Draft202012Validator.check_schema(schema)


def test_all_references_resolve(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    used = set(re.findall(r"'#/components/schemas/(\w+)'", str(described)))

    assert used <= set(schemas)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("path", ["/v3/openapi.json", "/v3/docs"])
def test_the_description_needs_no_login(path: str) -> None:
    assert Client().get(path).status_code == 200
    assert Client().post(path).status_code == 405


def test_making_the_description_warns_of_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from copilot_site.description import description

    description.cache_clear()
    description()

    assert capsys.readouterr().err == ""
