"""In German and in Chinese no text that has a translation is shown in English."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.copilot_site.test_catalogues import DOMAINS, entries
from tests.page.conftest import ARGUMENTS, CHROMIUM
from tests.stack import PASSWORDS, Stack

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.needs("chromium", "valkey", "celery"),
    pytest.mark.asyncio(loop_scope="module"),
]

SECONDS = 60_000
# What a person reads or hears: text, labels, placeholders.
SHOWN = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const inside = walker.currentNode.parentElement;
    if (!inside.closest("script, style, noscript, .term, pre"))
      found.push(walker.currentNode.data.trim());
  }
  for (const element of document.querySelectorAll("*"))
    for (const name of ["aria-label", "title", "placeholder"])
      if (element.hasAttribute(name)) found.push(element.getAttribute(name));
  return found;
}"""
WIDE = """() => [document.documentElement.scrollWidth, innerWidth]"""
# Names and words that are the same in the other language, or data.
SAME = {"Simulated lab", "text"}


def english(locale: str) -> set[str]:
    """Texts without places, whose translation differs."""
    return {
        entry.texts[0]
        for domain in DOMAINS
        for entry in entries(locale, domain)[1:]
        if entry.texts[0] not in entry.translations
    } - SAME


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS
        )
        yield browser
        await browser.close()


async def untranslated(page: Page, locale: str) -> set[str]:
    shown: list[str] = await page.evaluate(SHOWN)
    return set(shown) & english(locale)


async def fits(page: Page) -> bool:
    content, window = await page.evaluate(WIDE)
    return bool(content <= window)


async def log_in(page: Page, stack: Stack, language: str) -> None:
    page.set_default_timeout(SECONDS)
    await page.goto(f"{stack.url}/login/?language={language}")
    await page.locator("#id_username").fill("demo")
    await page.locator("#id_password").fill(PASSWORDS["demo"])
    await page.locator("button[type=submit]").click()
    await expect(page.locator("#message")).to_be_enabled()
    await expect(page.locator("#drawing .tp-node")).to_have_count(6)


@pytest.mark.parametrize(
    ("language", "locale", "today", "refused"),
    [
        ("de", "de", "Heute", "Dieses Projekt gibt es nicht."),
        ("zh-hans", "zh_Hans", "今天", "没有这个项目。"),
    ],
)
async def test_all_pages_speak_the_language_chosen_at_the_login(
    chromium: Browser,
    stack: Stack,
    language: str,
    locale: str,
    today: str,
    refused: str,
) -> None:
    context = await chromium.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    await page.goto(f"{stack.url}/login/?language={language}")
    assert await untranslated(page, locale) == set()
    await log_in(page, stack, language)
    assert await untranslated(page, locale) == set()

    await page.locator(".tries button").first.click()
    await expect(page.locator(".foot")).to_be_visible(timeout=SECONDS)
    await page.locator(".tp-node").first.click()
    await page.locator(".side__foot [data-act=account]").click()

    await expect(page.locator("#sessions")).to_contain_text(today)
    assert await untranslated(page, locale) == set()
    for path in ("/", "/settings/", "/knowledge/", "/directory/", "/nothing/"):
        await page.set_viewport_size({"width": 1280, "height": 900})
        await page.goto(stack.url + path)
        await page.wait_for_load_state("networkidle")
        assert await untranslated(page, locale) == set(), path
        await page.set_viewport_size({"width": 390, "height": 844})
        assert await fits(page), path
    answer: dict[str, Any] = await page.evaluate(
        "fetch('/v3/projects/nothing/topology').then((answer) => answer.json())"
    )
    assert answer["message"] == refused
    await context.close()


async def test_from_right_to_left_nothing_runs_out_of_the_page(
    chromium: Browser, stack: Stack
) -> None:
    context = await chromium.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await log_in(page, stack, "de")

    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.evaluate("document.documentElement.dir = 'rtl'")
        boxes = [await page.locator(name).bounding_box() for name in (".chat", ".comp")]

        assert await fits(page)
        for box in boxes:
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    await context.close()


async def test_the_menu_changes_the_language_and_keeps_the_draft(
    chromium: Browser, stack: Stack
) -> None:
    context = await chromium.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await log_in(page, stack, "en")
    await page.locator("#message").fill("half a question")

    await page.locator(".side__foot [data-act=account]").click()
    await page.get_by_role("menuitemradio", name="Deutsch").click()

    await expect(page.locator("html")).to_have_attribute("lang", "de")
    await expect(page.locator("#message")).to_have_value("half a question")
    await context.close()
