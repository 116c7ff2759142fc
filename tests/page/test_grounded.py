"""Answers with evidence on the page: plan, citations, sources, no evidence."""

import json
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

LIBRARY = {
    "n": 1,
    "id": "passage:1",
    "kind": "document",
    "title": "Library guide",
    "location": "page 2",
    "url": "knowledge/?passage=1",
    "time": "2026-11-30T10:00:00+00:00",
    "text": "On Saturdays the library opens at 10:00. <b>Not markup</b>",
}
CONSOLE = {
    "n": 2,
    "id": "device:2",
    "kind": "device",
    "title": "PC1 · show ip",
    "location": "PC1",
    "url": "",
    "time": "2026-11-30T10:00:00+00:00",
    "text": "IP/MASK     : 10.0.0.2/24\nGATEWAY     : 10.0.0.1",
}
STEPS = [
    ("c1", "lookup_facilities", {"text": "library"}),
    ("c2", "search_documents", {"query": "library Saturday"}),
]


def plan_message(number: int = 1) -> dict[str, Any]:
    calls = [
        {
            "id": key,
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)},
        }
        for key, tool, arguments in STEPS
    ]
    return {
        "id": "p1",
        "role": "assistant",
        "content": "",
        "created_at": "2026-11-30T10:00:00+00:00",
        "tool_calls": calls,
        "metadata": {"round": number, "plan": {"source": "keyword"}},
    }


async def planned(backend: FakeBackend, session_id: str) -> None:
    await backend.begin(session_id, "When does the library open on Saturdays?")
    await backend.emit(session_id, "stage", stage="planning")
    await backend.emit(session_id, "message", message=plan_message())
    await backend.emit(
        session_id,
        "plan",
        steps=[{"tool": tool, "arguments": given} for _, tool, given in STEPS],
        source="keyword",
        message_id="p1",
    )


async def step(
    backend: FakeBackend, session_id: str, index: int, *, error: str = ""
) -> None:
    key, tool, arguments = STEPS[index]
    found = [] if error else [LIBRARY]
    output = json.dumps({"error": error} if error else {"passages": []})
    status = "error" if error else "ok"
    call = {"tool_name": tool, "tool_call_id": key}
    await backend.emit(session_id, "tool_start", **call)
    end = {"tool_output": output, "status": status, "elapsed_ms": 40}
    await backend.emit(session_id, "tool_end", **call, **end)
    fields = {"tool": tool, "arguments": arguments, "tool_call_id": key}
    await backend.emit(
        session_id,
        "step",
        index=index,
        status=status,
        result=output,
        citations=found,
        elapsed_ms=40,
        **fields,
        **({"error": error} if error else {}),
    )


def answer(
    text: str, citations: list[dict[str, Any]], **metadata: Any
) -> dict[str, Any]:
    return {
        "id": "a1",
        "role": "assistant",
        "content": text,
        "created_at": "2026-11-30T10:00:01+00:00",
        "metadata": {"round": 1, "citations": citations, **metadata},
    }


async def answered(
    backend: FakeBackend, open_page: OpenPage, text: str, *citations: dict[str, Any]
) -> Page:
    session_id = backend.add_session()
    backend.add_message(session_id, 1, role="user", content="Why?")
    backend.add_message(session_id, 1, **answer(text, list(citations)))
    return await open_page(session_id)


async def test_steps_show_how_they_run(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await planned(backend, session_id)
    page = await open_page(session_id)
    steps = page.locator(".plan__step")
    await expect(steps).to_have_count(2)
    await expect(steps.nth(0)).to_contain_text("not yet")

    await step(backend, session_id, 0, error="The directory cannot be read.")
    await expect(steps.nth(0)).to_have_class("plan__step is-failed")
    await step(backend, session_id, 1)
    await expect(steps.nth(1)).to_have_class("plan__step is-done")
    await expect(steps.nth(1)).to_contain_text("1 found")
    await expect(steps.nth(1)).to_contain_text("Search documents")


async def test_citations_are_marks_that_open_the_passage(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await planned(backend, session_id)
    await step(backend, session_id, 1)
    page = await open_page(session_id)
    await backend.emit(session_id, "citations", citations=[LIBRARY], message_id="a1")
    said = "It opens at **10:00** [1]. Not this one [7], `x[1]`."
    await backend.say(session_id, said)
    chips = page.locator(".prose .cite")
    await expect(chips).to_have_count(1)
    await expect(page.locator(".prose")).to_contain_text("[7]")
    await expect(page.locator(".prose code")).to_have_text("x[1]")
    message = answer("It opens at **10:00** [1].", [LIBRARY], confidence="high")
    await backend.emit(session_id, "message", message=message)
    await backend.finish(session_id)

    await chips.click()
    pop = page.get_by_role("dialog", name="Source 1")
    await expect(pop).to_contain_text("On Saturdays the library opens at 10:00.")
    await expect(pop).to_contain_text("<b>Not markup</b>")
    await expect(pop.get_by_role("link")).to_have_attribute(
        "href", "/knowledge/?passage=1"
    )
    await page.keyboard.press("Escape")
    await expect(pop).to_have_count(0)
    await expect(chips).to_be_focused()
    await expect(page.locator(".evid__item")).to_contain_text("Library guide")
    await expect(page.locator(".foot")).to_contain_text("High confidence")


async def test_device_lines_open_on_ink_and_say_when_they_are_stale(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    stale = {**CONSOLE, "stale": True}
    page = await answered(backend, open_page, "PC1 has a gateway [2].", stale)

    await page.locator(".prose .cite").click()

    pop = page.get_by_role("dialog", name="Source 2")
    await expect(pop.locator(".term .ln").first).to_have_text("PC1> show ip")
    await expect(pop).to_contain_text("GATEWAY     : 10.0.0.1")
    await expect(pop).to_contain_text("changed after these lines were read")
    await expect(page.locator(".evid__item")).to_contain_text("Changed since")


async def test_a_change_in_a_later_round_marks_the_lines_before_it_at_once(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await answered(backend, open_page, "PC1 has a gateway [2].", CONSOLE)
    session_id = next(iter(backend.sessions))
    item = page.locator(".evid__item")
    await expect(item).not_to_contain_text("Changed since")

    await backend.begin(session_id, "Give PC1 another address")
    await backend.call_tool(session_id, "r1", "run_commands", {}, {"devices": []})
    for message in backend.messages[session_id]:
        for citation in message["metadata"].get("citations", ()):
            citation["stale"] = True
    await backend.finish(session_id)

    await expect(item).to_contain_text("Changed since")


async def test_no_evidence_is_a_state_and_no_error(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    declined = {
        "reason": "not_covered",
        "looked_for": [{"tool": "search_documents", "arguments": {"query": "chess"}}],
        "nearest": [LIBRARY],
    }
    message = answer("I have found no evidence.", [], supported=False)
    message["metadata"]["declined"] = declined
    backend.add_message(session_id, 1, role="user", content="Who won at chess?")
    backend.add_message(session_id, 1, **message)
    page = await open_page(session_id)

    note = page.locator(".note--calm")
    await expect(note).to_contain_text("No evidence for an answer")
    await expect(note).to_contain_text("Search documents: chess")
    await note.locator("[data-cite]").click()
    await expect(page.get_by_role("dialog")).to_contain_text("opens at 10:00")
    await expect(page.locator(".note--bad")).to_have_count(0)


async def test_the_address_of_a_source_runs_nothing(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    evil = {**LIBRARY, "url": "javascript:alert(1)", "title": "<img src=x>"}
    page = await answered(backend, open_page, "So it is [1].", evil)

    await page.locator(".prose .cite").click()

    pop = page.get_by_role("dialog")
    await expect(pop).to_contain_text("<img src=x>")
    await expect(pop.get_by_role("link")).to_have_count(0)
