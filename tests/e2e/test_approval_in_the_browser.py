"""A change in the simulated lab: proposed, edited, approved, seen by two windows."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.test_question_in_the_browser import SECONDS, ask, chromium, page
from tests.stack import Stack

__all__ = ["chromium", "page"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.needs("chromium", "valkey", "celery"),
    pytest.mark.asyncio(loop_scope="module"),
]


async def test_an_edited_change_is_what_runs_and_every_window_sees_it(
    page: Page, stack: Stack
) -> None:
    await ask(page, "set PC1 to 10.0.1.77/24 gateway 10.0.1.1")
    card = page.locator("section.appr")
    await expect(card.locator("h3")).to_have_text("Change PC1?", timeout=SECONDS)
    await expect(card).to_contain_text("ip 10.0.1.77/24 10.0.1.1")
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(other.get_by_role("button", name="Approve")).to_be_visible()

    await card.get_by_role("button", name="Edit lines").click()
    field = page.get_by_label("Lines for PC1")
    await field.fill("ip 10.0.1.78/24 10.0.1.1\nshow ip")
    await page.get_by_role("button", name="Approve as edited").click()

    for window in (page, other):
        decided = window.locator("section.appr h3")
        await expect(decided).to_contain_text("You approved", timeout=SECONDS)
        await expect(window.locator("#stop")).to_be_hidden(timeout=SECONDS)
        answer = window.locator(".hop--answer")
        await expect(answer).to_contain_text("10.0.1.78", timeout=SECONDS)
    await page.reload()
    await expect(page.locator("section.appr .badge")).to_have_text("edited")
