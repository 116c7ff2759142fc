"""A person's first visit, from the login to an answer that names the faulty device."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.page.conftest import ARGUMENTS, CHROMIUM
from tests.stack import PASSWORDS, Stack

pytestmark = [
    pytest.mark.browser,
    pytest.mark.needs("chromium", "valkey", "celery"),
    pytest.mark.asyncio(loop_scope="module"),
]

QUESTION = "Why can't PC1 reach PC2?"
SECONDS = 60_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module", params=["light", "dark"])
async def page(
    request: pytest.FixtureRequest, chromium: Browser, stack: Stack
) -> AsyncIterator[Page]:
    """Logged in as demo; at the end no script error is forgiven."""
    problems: list[str] = []
    context = await chromium.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme=request.param
    )
    page = await context.new_page()
    page.set_default_timeout(SECONDS)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: (
            problems.append(message.text) if message.type == "error" else None
        ),
    )
    await page.goto(stack.url)
    await page.get_by_label("Name").fill("demo")
    await page.get_by_label("Password").fill(PASSWORDS["demo"])
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator("#message")).to_be_enabled()
    yield page
    await context.close()
    assert problems == []


async def ask(page: Page, text: str) -> None:
    await page.locator("#message").fill(text)
    await page.locator("#send").click()


async def test_a_question_is_answered_with_evidence(
    page: Page, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await page.get_by_role("button", name=QUESTION, exact=True).click()

    await expect(page.locator("details.tool").first).to_be_visible()
    await expect(page.locator("#stop")).to_be_hidden(timeout=SECONDS)
    answer = page.locator(".hop--answer")
    await expect(answer).to_contain_text("R2")
    await expect(answer).to_contain_text("10.0.1.0/24")
    await expect(answer).to_contain_text("The lab is simulated")
    await expect(page.locator("details.tool")).to_have_count(4)
    await expect(page.locator("#drawing svg .tp-node")).to_have_count(6)
    await expect(page.locator("#title")).not_to_have_text("New conversation")
    await page.screenshot(path=tmp_path / "answer.png")


async def test_a_reload_in_mid_answer_goes_on_where_it_was(
    page: Page, stack: Stack
) -> None:
    await ask(page, QUESTION)
    answer = page.locator(".hop--answer")
    await expect(answer).to_contain_text("PC1 cannot reach")

    await page.reload()

    await expect(answer).to_contain_text("The lab is simulated", timeout=SECONDS)
    await expect(page.locator("#stop")).to_be_hidden()
    await expect(page.locator(".hop--answer")).to_have_count(1)
    text = await answer.inner_text()
    assert text.count("cannot reach PC2") == 1
    await expect(page.locator(".ask__text")).to_have_text(QUESTION)
    session = re.search(r"session=([\w-]+)", page.url)
    assert session
    stored = stack.history(session[1])
    assert [message["role"] for message in stored].count("user") == 1


async def test_stop_keeps_what_was_said_and_the_next_question_works(
    page: Page, tmp_path: Path
) -> None:
    await ask(page, QUESTION)
    await expect(page.locator(".hop--answer")).to_contain_text("PC1 cannot reach")

    await page.locator("#stop").click()

    await expect(page.locator("#stop")).to_be_hidden()
    await expect(page.locator(".hop--answer, .hop--text")).to_contain_text(
        "PC1 cannot reach"
    )
    await expect(page.locator("#column")).to_contain_text("topped")
    await page.screenshot(path=tmp_path / "stopped.png")
    await ask(page, "Show the topology.")
    await expect(page.locator(".ask__text")).to_have_count(2)
    await expect(page.locator("#stop")).to_be_hidden(timeout=SECONDS)
    await expect(page.locator(".hop--answer").last).to_contain_text("R1")
