"""The API's pages, for a person with a browser and our Content-Security-Policy."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright, expect

from tests.page.conftest import ARGUMENTS, CHROMIUM
from tests.stack import PASSWORDS, Stack

pytestmark = [pytest.mark.browser, pytest.mark.needs("valkey", "celery", "chromium")]

# Whoever uses the box beside us.
_PATIENCE = 60_000


@pytest_asyncio.fixture
async def page(stack: Stack) -> AsyncIterator[Page]:
    """Logged in as demo; no script error and no refused resource is forgiven."""
    problems: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS
        )
        page = await browser.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: (
                problems.append(f"{message.text} {message.location}")
                if message.type == "error"
                else None
            ),
        )
        await page.goto(f"{stack.url}/login/?next=/v3/docs")
        await page.fill("input[name=username]", "demo")
        await page.fill("input[name=password]", PASSWORDS["demo"])
        await page.press("input[name=password]", "Enter")
        await page.wait_for_url("**/v3/docs")
        yield page
        await browser.close()
    assert problems == []


async def test_a_request_can_be_tried_on_the_description(page: Page) -> None:
    operation = page.locator('.opblock:has([data-path="/v3/me"])')
    await expect(operation).to_be_visible(timeout=_PATIENCE)
    await operation.click()
    await operation.get_by_role("button", name="Try it out").click()

    await operation.get_by_role("button", name="Execute").click()

    answer = operation.locator(".live-responses-table")
    await expect(answer).to_contain_text('"username": "demo"', timeout=_PATIENCE)


async def test_a_session_is_made_with_the_form_of_its_list(
    page: Page, stack: Stack
) -> None:
    await page.goto(f"{stack.url}{stack.chat_path}/sessions")
    await expect(page.locator("h1")).to_contain_text("Session List")
    raw = page.locator("textarea[name=_content]")
    await raw.fill('{"title": "Made by hand"}')

    await page.get_by_role("button", name="POST").click()

    await expect(page.locator(".response-info")).to_contain_text("201 Created")
    found = stack.call("GET", "/sessions?q=Made").json()
    assert [one["title"] for one in found] == ["Made by hand"]
