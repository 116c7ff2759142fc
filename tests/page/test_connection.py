import asyncio
import re

import pytest
from playwright.async_api import Page, expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

ARGUMENTS = {"devices": [{"device": "PC1", "commands": ["show ip"]}]}
RESULT = {
    "devices": [
        {
            "device": "PC1",
            "status": "ok",
            "commands": [{"command": "show ip", "output": "IP 10.0.0.1"}],
        }
    ]
}


async def dom(page: Page) -> str:
    html = await page.locator("#column").inner_html()
    return re.sub(r' open=""', "", html)


async def talk(backend: FakeBackend, session_id: str, *, start: int, end: int) -> None:
    steps = [
        lambda: backend.emit(session_id, "reasoning", content="Hm.", message_id="a0"),
        lambda: backend.say(session_id, "First I *look*.", "a0"),
        lambda: backend.call_tool(session_id, "t", "run_commands", ARGUMENTS, RESULT),
        lambda: backend.say(session_id, "PC1 has ", "a9"),
        lambda: backend.say(session_id, "`10.0.0.1`.", "a9"),
        lambda: backend.finish(session_id),
    ]
    for step in steps[start:end]:
        await step()


async def test_a_lost_connection_is_said_and_replay_gives_the_same_page(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    await talk(backend, session_id, start=0, end=3)
    await expect(page.locator("details.tool")).to_have_count(1)

    backend.is_down = True
    await backend.drop_sockets()
    await talk(backend, session_id, start=3, end=4)
    await expect(page.locator(".strip")).to_contain_text("Connection lost.")
    backend.is_down = False
    await page.get_by_role("button", name="Try now").click()
    await expect(page.locator(".strip--ok")).to_have_text("Back. Nothing was lost.")
    await talk(backend, session_id, start=4, end=6)

    await expect(page.locator(".prose").last).to_have_text("PC1 has 10.0.0.1.")
    await expect(page.locator(".foot__facts")).to_contain_text("real lab, read")
    await expect(page.locator(".strip")).to_have_count(0, timeout=6000)
    live = await dom(page)

    other = await backend_copy(backend, session_id, open_page)
    assert await dom(other) == live


async def backend_copy(
    backend: FakeBackend, session_id: str, open_page: OpenPage
) -> Page:
    """The same log read by a page that saw nothing of it live."""
    last = backend.events[session_id].pop()
    rows = backend.messages[session_id]
    backend.messages[session_id] = rows[:1]
    run = {"id": "run-1", "round": 1, "status": "running"}
    backend.sessions[session_id]["active_run"] = run
    page = await open_page(session_id)
    await expect(page.locator(".prose").last).to_have_text("PC1 has 10.0.0.1.")
    backend.messages[session_id] = rows[:1]
    await backend.emit(
        session_id, "done", status="succeeded", reason="", usage=last["usage"]
    )
    await expect(page.locator(".foot__facts")).to_contain_text("real lab, read")
    return page


async def test_reload_during_a_run_joins_it_and_history_shows_the_rest(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "one")
    await talk(backend, session_id, start=0, end=6)
    await backend.begin(session_id, "two")
    await backend.say(session_id, "Second", "b1")
    page = await open_page(session_id)
    await expect(page.locator(".run")).to_have_count(2)

    await page.reload()
    await expect(page.locator(".prose").last).to_have_text("Second")
    await backend.say(session_id, " answer", "b1")

    await expect(page.locator(".prose").last).to_have_text("Second answer")
    first = page.locator(".run").first
    await expect(first.locator(".prose").last).to_have_text("PC1 has 10.0.0.1.")
    await expect(first.locator(".foot__facts")).to_contain_text("6,412 in")
    await expect(first.locator("details.tool")).to_have_count(1)


async def test_a_long_conversation_loads_its_start_on_demand(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    for number in range(1, 76):
        backend.add_message(session_id, number, role="user", content=f"q{number}")
        backend.add_message(session_id, number, role="assistant", content=f"a{number}")
    await backend.begin(session_id, "live question")
    await backend.say(session_id, "live answer", "z")
    page = await open_page(session_id)
    await expect(page.locator(".prose").last).to_have_text("live answer")
    shown = await page.locator(".run").count()

    await page.get_by_role("button", name="Show earlier").click()

    await expect(page.locator(".run")).to_have_count(76)
    assert shown == 51
    await expect(page.locator(".ask__text").first).to_have_text("q1")
    await expect(page.locator(".prose").last).to_have_text("live answer")
    await expect(page.get_by_role("button", name="Show earlier")).to_have_count(0)


async def test_events_come_by_sse_where_sockets_are_refused(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.has_sockets = False
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    await backend.say(session_id, "Over ")
    await expect(page.locator(".prose")).to_have_text("Over", timeout=8000)
    await backend.say(session_id, "SSE")
    await backend.finish(session_id)
    await expect(page.locator(".prose")).to_have_text("Over SSE")
    await expect(page.locator("#stop")).to_be_hidden()
    await page.locator("#message").fill("again")
    await page.keyboard.press("Enter")
    await expect(page.locator(".ask__text")).to_have_count(2)
    await backend.say(session_id, "Second", "b")

    await expect(page.locator(".prose").last).to_have_text("Second")


async def test_a_lost_answer_to_a_post_doubles_no_message(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    page = await open_page(session_id)
    backend.lose_answers = 1

    await page.locator("#message").fill("only once")
    await page.keyboard.press("Enter")
    await expect(page.locator("#outbox")).to_have_count(0, timeout=8000)

    await expect(page.locator(".ask__text")).to_have_text("only once")
    assert len(backend.posted("/chat/stream")) == 2
    assert len(backend.messages[session_id]) == 1


async def test_events_seen_twice_are_shown_once(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    await backend.say(session_id, "once")
    await expect(page.locator(".prose")).to_have_text("once")

    for event in list(backend.events[session_id]):
        for socket in backend.sockets_of(session_id):
            await socket.send_json(event)
    await backend.say(session_id, " more")

    await expect(page.locator(".prose")).to_have_text("once more")


async def test_an_answer_stays_with_its_conversation_when_another_is_opened(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    first = backend.add_session("First")
    second = backend.add_session("Second")
    await backend.begin(first, "q1")
    page = await open_page(first)
    await backend.say(first, "For the first")
    await expect(page.locator(".prose")).to_have_text("For the first")

    await page.get_by_role("link", name="Second").click()
    await expect(page.locator("#title")).to_have_text("Second")
    await backend.say(first, " and only there.")
    await backend.finish(first)
    await expect(page.locator(".side .dot[aria-label=unread]")).to_have_count(
        1, timeout=9000
    )
    await expect(page.locator(".prose")).to_have_count(0)
    assert backend.messages[second] == []

    await page.get_by_role("link", name="First").click()
    await expect(page.locator(".prose")).to_have_text("For the first and only there.")


async def test_a_slow_send_does_not_pull_the_reader_back(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    other = backend.add_session("Other")
    backend.hold = asyncio.Event()
    page = await open_page()
    await page.get_by_role("button", name="What is wrong with this lab?").click()
    await expect(page.locator("#outbox")).to_contain_text("Sending")

    await page.get_by_role("link", name="Other").click()
    backend.hold.set()
    await expect(page.locator(".sess")).to_have_count(2)

    assert f"session={other}" in page.url
    await expect(page.locator("#title")).to_have_text("Other")
    await expect(page.locator(".ask__text")).to_have_count(0)
