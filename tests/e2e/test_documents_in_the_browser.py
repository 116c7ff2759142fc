"""Documents uploaded, found, attached and downloaded by a person in a browser."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.chat.documents import samples
from tests.stack import PASSWORDS, Stack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.needs("chromium", "valkey"),
]

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"


async def log_in(page: Page, address: str) -> None:
    await page.goto(address)
    await page.fill("#id_username", "demo")
    await page.fill("#id_password", PASSWORDS["demo"])
    await page.press("#id_password", "Enter")


async def test_documents_from_upload_to_answer(stack: Stack, tmp_path: Path) -> None:
    notes, broken = tmp_path / "notes 网.md", tmp_path / "broken.pdf"
    notes.write_text(samples.MARKDOWN)
    broken.write_bytes(b"%PDF-1.7 nothing of the kind")
    config = tmp_path / "r1.cfg"
    config.write_text("hostname R1\n")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = await browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        await log_in(page, f"{stack.url}/knowledge/")

        # A collection, two documents: one is read, one says why not.
        new = page.locator("#new")
        if await new.get_attribute("open") is None:
            await new.locator("summary").click()
        await page.get_by_label("Name").fill("Notes of a test")
        await page.get_by_role("button", name="Create").click()
        field = page.locator(".know__drop input[type=file]")
        await field.set_input_files([str(notes), str(broken)])
        rows = page.locator(".know__row")
        await expect(rows.filter(has_text=notes.name)).to_contain_text(
            "1 passage", timeout=60_000
        )
        await expect(rows.filter(has_text=broken.name)).to_contain_text(
            "The PDF is damaged.", timeout=60_000
        )

        # Found with its words marked, opened in its context.
        await page.get_by_role("searchbox").fill("networking labs")
        await page.get_by_role("searchbox").press("Enter")
        found = page.locator(".know__passage").filter(has_text=notes.name)
        marks = found.first.locator("mark")
        await expect(marks).to_have_text(["Labs", "networking", "lab"])
        await found.first.get_by_role("button").click()
        context = page.locator(".know__context")
        await expect(context).to_contain_text("The networking lab is in building C")

        # Removed after a question.
        delete = page.get_by_role("button", name=f"Delete {broken.name}", exact=True)
        await delete.click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(rows.filter(has_text=broken.name)).to_have_count(0)

        # Attached to a question, shown there, kept over a reload.
        await page.goto(f"{stack.url}/")
        await expect(page.locator("#message")).to_be_enabled(timeout=30_000)
        await page.locator("#attach + input").set_input_files(
            [str(config), str(broken)]
        )
        chips = page.locator("#files .chip")
        await expect(chips.filter(has_text="damaged")).to_be_visible(timeout=30_000)
        await page.get_by_role("button", name=f"Remove {broken.name}").click()
        await expect(chips).to_have_count(1)
        await page.fill("#message", "Which devices are in this lab?")
        await page.press("#message", "Enter")
        attached = page.locator(".ask__files a")
        await expect(attached).to_contain_text("r1.cfg")
        await expect(page.locator("#files")).to_be_hidden()
        await page.reload()
        await expect(attached).to_be_visible(timeout=30_000)
        async with page.expect_download() as download:
            await attached.click()
        saved = tmp_path / "saved.cfg"
        await (await download.value).save_as(saved)
        assert await asyncio.to_thread(saved.read_text) == "hostname R1\n"
        assert errors == []
        await browser.close()
