"""One browser a session; each test gets a fake server and a watched page."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.page.fake_backend import PROJECT, FakeBackend

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
OpenPage = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def backend() -> AsyncIterator[FakeBackend]:
    async with FakeBackend() as backend:
        yield backend


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, backend: FakeBackend) -> AsyncIterator[OpenPage]:
    """Opens the page; at the end no script error and no foreign request is forgiven."""
    problems: list[str] = []
    contexts = []

    async def open_page(
        session_id: str | None = None,
        *,
        path: str = "/",
        width: int = 1440,
        height: int = 900,
        scheme: str = "light",
    ) -> Page:
        context = await browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = await context.new_page()
        page.set_default_timeout(6000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}"))

        def on_console(message: object) -> None:
            text = getattr(message, "text", "")
            if "Content Security Policy" in text:
                problems.append(text)

        page.on("console", on_console)

        def on_request(request: object) -> None:
            url = getattr(request, "url", "")
            if not url.startswith((backend.url, backend.url.replace("http", "ws"))):
                problems.append(f"foreign request {url}")

        page.on("request", on_request)
        query = f"?project={PROJECT}&session={session_id}" if session_id else ""
        await page.goto(f"{backend.url}{path}{query}")
        return page

    yield open_page
    for context in contexts:
        await context.close()
    assert problems == []
