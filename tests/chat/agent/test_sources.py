"""Runs that look up records, remember, search the web and say what they are doing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User

from chat.agent.tools import TOOLS
from chat.agent.tools.base import Effect
from chat.agent.tools.kit import Evidence, Kit
from chat.directory.importing import apply, preview
from chat.directory.kinds import SHIPPED
from chat.directory.lookup import Records, kind_named
from chat.directory.reading import Row
from chat.events.address import RunAddress
from chat.memory.models import Memory
from chat.models import Run
from chat.models.run import Status
from projects.models import Membership, Project, Role
from tests.chat.agent.conftest import Execute
from tests.chat.support import claimed, db, events_of, kinds, make_run, text_of
from tests.fakes.provider import ScriptedProvider, calls, says
from tests.fakes.tavily import KEY, FakeTavily, page

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


@pytest.fixture
def tavily(settings: LazySettings) -> Iterator[FakeTavily]:
    with FakeTavily() as fake:
        settings.TAVILY_URL = fake.url
        settings.TAVILY_API_KEY = KEY
        yield fake


async def log_of(run: Run) -> list[dict[str, Any]]:
    return await events_of(RunAddress.of(run))


def offered(provider: ScriptedProvider) -> set[str]:
    tools = provider.requests[-1].body.get("tools", [])
    return {tool["function"]["name"] for tool in tools}


def results(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        event["tool_name"]: {
            "status": event["status"],
            **json.loads(event["tool_output"]),
        }
        for event in events
        if event["type"] == "tool_end"
    }


@pytest.mark.parametrize("kind", SHIPPED, ids=lambda kind: kind.slug)
async def test_each_shipped_kind_has_a_tool_that_finds_citable_records(
    alice: User, kind: Any
) -> None:
    values = {
        field.name: "X-1 Example"
        for field in kind.fields
        if field.is_key or field.is_name
    }

    def fill() -> None:
        apply(preview([Row(1, values)], kind_named(kind.slug)))

    await db(fill)()
    kit = Kit(directory=Records(alice, None))

    for text in ("", "x-1 example"):
        found = await TOOLS[f"lookup_{kind.slug}"].call({"text": text}, kit)
        assert isinstance(found, Evidence)
        assert [one.kind for one in found.passages] == ["record"]
        assert found.value["kind"] == kind.slug
    generic = await TOOLS["lookup_records"].call({"kind": kind.slug}, kit)
    assert generic.value["found"] == 1


async def test_what_is_remembered_in_one_conversation_is_recalled_in_another(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    alice: User,
    lab: Project,
) -> None:
    # Her role lets her change nothing in the lab: her notes are her own.
    membership = Membership.objects.filter(project=lab, user=alice)
    await db(membership.update)(role=Role.MEMBER)
    provider.script(
        calls(("remember", {"text": "My favourite router is R1."})), says("Kept.")
    )
    first = await execute(started)
    provider.script(
        calls(("recall", {"query": "favourite router"})), says("It is R1 [1].")
    )

    second = await execute(await db(claimed)(await db(make_run)(first.session)))

    assert (first.status, second.status) == (Status.SUCCEEDED, Status.SUCCEEDED)
    found = results(await log_of(second))["recall"]
    assert found["notes"][0]["text"] == "My favourite router is R1."
    provider.script(calls(("forget", {"query": "favourite router"})), says("Gone."))
    third = await execute(await db(claimed)(await db(make_run)(first.session)))
    assert results(await log_of(third))["forget"]["forgotten"] == 1
    assert not await db(Memory.objects.exists)()


def test_notes_need_nobodys_consent() -> None:
    for name, arguments in (("remember", {"text": "x"}), ("forget", {"query": "x"})):
        assert TOOLS[name].effect(arguments) == Effect.IDEMPOTENT
        assert not TOOLS[name].needs_consent(arguments)


async def test_web_pages_reach_the_model_as_numbered_data(
    started: Run, execute: Execute, provider: ScriptedProvider, tavily: FakeTavily
) -> None:
    tavily.results = [page("https://a.example/1"), page("https://b.example/2")]
    provider.script(
        calls(("search_web", {"query": "OSPF areas"})), says("As [1] says.")
    )

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    assert "search_web" in offered(provider)
    found = results(await log_of(run))["search_web"]
    assert found["provider"] == "tavily"
    assert [one["cite"] for one in found["pages"]] == ["[1]", "[2]"]
    assert "The whole text" in found["pages"][1]["text"]


@pytest.mark.parametrize("status", [502, 429, 401])
async def test_a_failing_provider_is_named_and_the_run_goes_on(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    tavily: FakeTavily,
    status: int,
) -> None:
    tavily.status = status
    provider.script(calls(("search_web", {"query": "x"})), says("Not found."))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    found = results(await log_of(run))["search_web"]
    assert found["status"] == "error"
    assert "Tavily" in found["error"]
    assert text_of(await log_of(run)) == "Not found."
    assert len(tavily.searches) == 1


async def test_without_a_key_nothing_is_searched_and_nothing_breaks(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(calls(("search_web", {"query": "x"})), says("I cannot search."))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    assert "search_web" not in offered(provider)
    assert {"remember", "recall", "report_status"} <= offered(provider)
    assert results(await log_of(run))["search_web"]["status"] == "error"


async def test_a_line_of_progress_is_an_event_before_the_answer_and_no_part_of_it(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(
        calls(("report_status", {"text": "Comparing both routing tables"})),
        says("They differ."),
    )

    run = await execute(started)

    events = await log_of(run)
    said = [event for event in events if event["type"] == "status"]
    assert [(event["status"], event["text"]) for event in said] == [
        ("progress", "Comparing both routing tables")
    ]
    order = kinds(events)
    assert order.index("status") < order.index("content")
    assert text_of(events) == "They differ."
    # At once: while its own call is still running.
    assert order.index("tool_start") < order.index("status") < order.index("tool_end")
