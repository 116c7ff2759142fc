"""The settings page on the real server: models are added, tried, changed, deleted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from django.contrib.auth.models import Group, User
from django.test import Client
from playwright.async_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from llmconfig.models import LLMConfig
from tests.chat.support import db
from tests.fakes.provider import ScriptedProvider, calls, fails, says

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

KEY = "sk-of-the-page-0123456789-wxyz"
OpenSettings = Callable[..., Awaitable[Page]]


@pytest.fixture
def root(transactional_db: None) -> User:
    """May use the scripted provider, which is of this machine."""
    return User.objects.create_superuser("root")


@pytest.fixture
def cookie(root: User, live_server: LiveServer) -> dict[str, str]:
    client = Client()
    client.force_login(root)
    value = client.cookies["sessionid"].value
    return {"name": "sessionid", "value": value, "url": live_server.url}


@pytest_asyncio.fixture(loop_scope="session")
async def open_settings(
    browser: Browser, live_server: LiveServer, cookie: dict[str, Any]
) -> AsyncIterator[OpenSettings]:
    """Opens the page; at the end no script error is forgiven."""
    problems: list[str] = []
    contexts = []

    async def open_settings(width: int = 1280, scheme: Any = "light") -> Page:
        context = await browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        contexts.append(context)
        await context.add_cookies([cookie])  # type: ignore[list-item]
        page = await context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: problems.append(str(error)))

        def on_console(message: Any) -> None:
            if "Content Security Policy" in message.text:
                problems.append(message.text)

        page.on("console", on_console)
        await page.goto(f"{live_server.url}/settings/")
        await expect(page.locator("#model-answering")).not_to_be_empty()
        return page

    yield open_settings
    for context in contexts:
        await context.close()
    assert problems == []


async def fill(page: Page, provider: ScriptedProvider, **changes: str) -> None:
    values = {"Name": "Mine", "Base URL": provider.url, "Model": "m", **changes}
    for label, value in values.items():
        await page.get_by_label(label, exact=True).fill(value)


async def test_with_nothing_set_up_the_page_says_what_to_do(
    open_settings: OpenSettings,
) -> None:
    page = await open_settings()

    await expect(page.locator("#model-answering")).to_contain_text("Built-in rules")
    note = page.locator("#model-list .note")
    await expect(note).to_contain_text("You have no model of your own")
    await expect(note).to_contain_text("base URL")
    await note.get_by_role("button", name="Add a model").click()
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()


async def test_a_model_is_added_tried_and_answers(
    open_settings: OpenSettings, provider: ScriptedProvider
) -> None:
    provider.script(says("I am ready"), calls(("ready", {})))
    page = await open_settings()
    await page.locator("#model-add").click()
    await fill(page, provider, **{"API key": KEY})

    await page.locator("form").get_by_role("button", name="Test connection").click()
    report = page.locator("form .report")
    await expect(report).to_contain_text("The model answers.")
    await expect(report).to_contain_text(f"POST {provider.url}/chat/completions")
    await expect(report).to_contain_text("I am ready")
    await page.get_by_role("button", name="Save").click()

    row = page.locator(".model")
    await expect(row).to_contain_text("answers you")
    await expect(row).to_contain_text("a key is stored")
    await expect(page.locator("#model-answering")).to_contain_text(
        "m answers you: your own config “Mine”."
    )
    config = await db(LLMConfig.objects.get)()
    assert config.api_key == KEY
    assert KEY not in await page.content()


async def test_a_wrong_address_is_told_in_words(
    open_settings: OpenSettings, provider: ScriptedProvider
) -> None:
    provider.script(fails(404))
    page = await open_settings()
    await page.locator("#model-add").click()
    base = provider.url.removesuffix("/v1")
    await fill(page, provider, **{"Base URL": base})

    await page.locator("form").get_by_role("button", name="Test connection").click()

    await expect(page.locator("form .report")).to_contain_text(f"try {base}/v1")


async def test_models_of_the_provider_are_offered(
    open_settings: OpenSettings, provider: ScriptedProvider
) -> None:
    provider.script(fails(200, {"data": [{"id": "large"}, {"id": "small"}]}))
    page = await open_settings()
    await page.locator("#model-add").click()
    await fill(page, provider)

    await page.get_by_role("button", name="List models").click()

    await expect(page.locator("#config-models option")).to_have_count(2)


@pytest.fixture
def mine(root: User, provider: ScriptedProvider) -> LLMConfig:
    return LLMConfig.objects.create(
        name="Mine", user=root, base_url=provider.url, model="m", api_key=KEY
    )


async def test_an_edit_keeps_the_key_and_a_conflict_is_told(
    open_settings: OpenSettings, mine: LLMConfig
) -> None:
    page = await open_settings()
    await page.get_by_role("button", name="Edit: Mine").click()
    await expect(page.get_by_label("API key")).to_have_value("")
    await page.get_by_label("Name", exact=True).fill("Renamed")
    await db(LLMConfig.objects.filter(pk=mine.pk).update)(version=7, name="Theirs")

    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("alert")).to_contain_text("was changed meanwhile")
    await page.get_by_role("button", name="Load again").click()
    await expect(page.get_by_label("Name", exact=True)).to_have_value("Theirs")
    await page.get_by_label("Name", exact=True).fill("Renamed")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".model__name")).to_have_text("Renamed")
    config = await db(LLMConfig.objects.get)()
    assert (config.api_key, config.version) == (KEY, 8)


async def test_what_is_wrong_in_a_field_leads_there(
    open_settings: OpenSettings, mine: LLMConfig
) -> None:
    page = await open_settings()
    await page.get_by_role("button", name="Edit: Mine").click()
    await page.get_by_label("Base URL").fill("nonsense")

    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_label("Base URL")).to_be_focused()
    await expect(page.get_by_label("Base URL")).to_have_attribute(
        "aria-invalid", "true"
    )


async def test_a_model_is_deleted_after_a_question(
    open_settings: OpenSettings, mine: LLMConfig
) -> None:
    page = await open_settings()

    await page.get_by_role("button", name="Delete: Mine").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    await expect(page.locator(".model")).to_have_count(0)
    assert not await db(LLMConfig.objects.exists)()


@pytest.fixture
def inherited(root: User, provider: ScriptedProvider) -> LLMConfig:
    group = Group.objects.create(name="students")
    root.groups.add(group)
    LLMConfig.objects.create(name="Spare", base_url=provider.url, model="s")
    return LLMConfig.objects.create(
        name="Course", group=group, base_url=provider.url, model="c", api_key=KEY
    )


async def test_inherited_models_show_where_they_come_from_and_who_goes_on(
    open_settings: OpenSettings, inherited: LLMConfig
) -> None:
    page = await open_settings()

    row = page.locator(".model", has_text="Course")
    await expect(row).to_contain_text("of the group students")
    await expect(row).to_contain_text("answers you")
    assert await row.get_by_role("button").count() == 1
    await expect(page.locator("#model-answering")).to_contain_text(
        "If it is down or used up, these go on: Spare."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_fits_a_phone(
    open_settings: OpenSettings, mine: LLMConfig, inherited: LLMConfig, scheme: str
) -> None:
    page = await open_settings(width=360, scheme=scheme)
    await page.get_by_role("button", name="Edit: Mine").click()
    await page.get_by_text("More settings").click()

    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not await page.evaluate(wide)


async def test_a_language_is_chosen(open_settings: OpenSettings) -> None:
    page = await open_settings()

    await page.locator("#language-choice").select_option("de")

    await expect(page.locator("html")).to_have_attribute("lang", "de")
