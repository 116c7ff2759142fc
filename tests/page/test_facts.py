"""The line below an answer: what it rests on, and which model wrote it and why."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

REASON = "your own config “Spare”, since “Main” failed (rate_limited)"
NOTE = "“Main” does not answer. “Spare” goes on."


def answer(**metadata: Any) -> dict[str, Any]:
    return {
        "id": "a1",
        "role": "assistant",
        "content": "Three switches are in stock.",
        "created_at": "2026-11-30T10:00:00+00:00",
        "metadata": {"round": 1, "model": "gpt-4.1-mini", **metadata},
    }


async def test_an_answer_from_a_database_names_the_database_and_no_lab(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "How many switches are in stock?")
    query = {"source": "inventory", "sql": "SELECT 3"}
    await backend.call_tool(session_id, "q1", "query_data", query, {"rows": []})
    await backend.call_tool(
        session_id, "d1", "search_documents", {"query": "switch"}, {"passages": []}
    )
    await backend.call_tool(
        session_id, "w1", "search_web", {"query": "x"}, "no", status="error"
    )
    await backend.say(session_id, "Three.")
    await backend.finish(session_id)
    facts = "gpt-4.1-mini6,412 in388 outdatabase inventorydocuments"

    for _ in ("live", "from history"):
        page = await open_page(session_id)
        await expect(page.locator(".foot__facts")).to_have_text(facts)


async def test_an_answer_from_the_lab_says_when_it_was_read(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "What is in the lab?")
    await backend.call_tool(session_id, "t1", "read_topology", {}, {"nodes": []})
    await backend.say(session_id, "Nothing.")
    await backend.finish(session_id)

    page = await open_page(session_id)

    await expect(page.locator(".foot__facts")).to_contain_text("real lab, read ")


async def test_why_this_model_answered_opens_below_its_name_and_a_fallback_stays(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    message = answer(model_reason=REASON, model_notes=[NOTE])
    backend.add_message(session_id, 1, role="user", content="q")
    backend.add_message(session_id, 1, **message)

    page = await open_page(session_id)

    await expect(page.locator(".foot__note")).to_have_text(NOTE)
    await expect(page.get_by_text(REASON)).to_be_hidden()
    await page.locator(".foot__model summary").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(REASON)).to_be_visible()


async def test_a_warning_stands_below_its_answer(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    message = answer(warnings=[NOTE])
    backend.add_message(session_id, 1, role="user", content="q")
    backend.add_message(session_id, 1, **message)

    page = await open_page(session_id)

    await expect(page.locator(".foot__note")).to_have_text(NOTE)
