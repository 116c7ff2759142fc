import re

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import CLOSED, PROJECT, FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]


async def test_a_closed_project_asks_to_be_opened(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.locator("#project").click()
    await page.get_by_role("menuitemradio", name="Old lab").click()
    await expect(page.locator(".note__title")).to_have_text("Old lab is closed")
    await expect(page.locator("#message")).to_be_disabled()

    await page.get_by_role("button", name="Open project").click()

    await expect(page.locator("#message")).to_be_enabled()
    await expect(page.locator(".note")).to_have_count(0)
    assert backend.opened[CLOSED]


async def test_without_projects_the_page_says_what_to_do(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.has_projects = False
    page = await open_page()
    await expect(page.locator(".note__title")).to_have_text("No projects yet")

    backend.has_projects = True
    await page.get_by_role("button", name="Look again").click()

    await expect(page.locator("#project-name")).to_have_text("Campus OSPF")


@pytest.mark.parametrize("is_staff", [True, False])
async def test_without_a_model_the_message_is_kept_and_settings_are_named(
    backend: FakeBackend, open_page: OpenPage, is_staff: bool
) -> None:
    backend.is_staff = is_staff
    backend.llm = None
    backend.refusals = [(400, {"code": "llm_not_configured", "message": "No model."})]
    page = await open_page(backend.add_session())

    await page.locator("#message").fill("hello")
    await page.keyboard.press("Enter")

    await expect(page.locator(".note__title")).to_have_text("No model is set up")
    await expect(page.locator("#message")).to_have_value("hello")
    await page.get_by_role("button", name="Add a model").click()
    await page.wait_for_url(f"{backend.url}/settings/")


async def test_a_project_closed_meanwhile_can_be_opened_from_the_refusal(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    refusal = {"code": "project_not_opened", "message": "Open it first."}
    backend.refusals = [(403, refusal)]
    page = await open_page(backend.add_session())

    await page.locator("#message").fill("hello")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Open project").click()

    await expect(page.locator(".note")).to_have_count(0)
    await expect(page.locator("#message")).to_have_value("hello")


async def test_a_busy_session_offers_to_queue(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.refusals = [(409, {"code": "run_active", "message": "Busy."})]
    page = await open_page(backend.add_session())
    await page.locator("#message").fill("hello")
    await page.keyboard.press("Enter")

    await page.get_by_role("button", name="Send when it ends").click()

    await expect(page.locator(".ask__text")).to_have_text("hello")
    assert backend.posted("/stream")[-1]["multitask_strategy"] == "enqueue"


async def test_a_server_error_shows_its_words_and_a_way_to_retry(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.refusals = [(503, {"code": "busy", "message": "The queue is down."})]
    page = await open_page(backend.add_session())
    await page.locator("#message").fill("hello")
    await page.keyboard.press("Enter")
    await expect(page.locator("#outbox")).to_contain_text("The queue is down.")

    await page.get_by_role("button", name="Retry").click()

    await expect(page.locator("#outbox")).to_have_count(0)
    await expect(page.locator(".ask__text")).to_have_text("hello")


async def test_an_unreachable_server_gives_the_text_back(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page(backend.add_session())
    await expect(page.locator("#message")).to_be_enabled()
    backend.lose_answers = 99
    await page.locator("#message").fill("hello")
    await page.keyboard.press("Enter")

    await page.get_by_role("button", name="Back to the field").click(timeout=9000)

    await expect(page.locator("#message")).to_have_value("hello")
    await expect(page.locator("#outbox")).to_have_count(0)


async def test_a_failed_run_keeps_its_parts_and_names_the_reason(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    await backend.say(session_id, "Half")
    error = "llm.campus.lan did not answer in 30 s."
    await backend.emit(session_id, "error", error=error, code="llm_unreachable")
    await backend.finish(session_id, "failed")

    note = page.locator(".note--bad")
    await expect(note).to_contain_text(error)
    await expect(note).to_contain_text("What was written and run so far is kept.")
    await expect(page.locator(".prose")).to_have_text("Half")
    await note.get_by_role("button", name="Retry").click()
    await expect(page.locator(".ask__text")).to_have_count(2)


async def test_a_signed_out_reader_is_led_to_the_login(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    page = await open_page(session_id)
    await expect(page.locator("#message")).to_be_enabled()
    backend.refusals = [(401, {"code": "not_authenticated", "message": "Sign in."})]
    await page.locator("#message").fill("keep me")
    await page.keyboard.press("Enter")

    await page.wait_for_url(re.compile("/login/"))

    assert f"session%3D{session_id}" in page.url
    await expect(page.get_by_label("Password")).to_be_visible()


async def test_a_foreign_or_deleted_conversation_is_not_found(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page("99999999-9999-4999-8999-999999999999")
    await expect(page.locator(".note__title")).to_have_text("No such conversation")

    await page.locator(".note").get_by_role("button", name="New conversation").click()

    await expect(page.locator(".hello h2")).to_have_text("Talk to your lab")


async def test_conversations_are_renamed_pinned_searched_and_deleted(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session("Alpha")
    backend.add_session("Beta")
    page = await open_page(session_id)

    async def choose(item: str) -> None:
        await page.locator("#more").click()
        await page.get_by_role("menuitem", name=item).click()

    await choose("Rename")
    await page.get_by_label("Title").fill("Gamma")
    await page.keyboard.press("Enter")
    await expect(page.locator("#title")).to_have_text("Gamma")
    await choose("Pin")
    await expect(page.locator(".side__group").first).to_have_text("Pinned")
    await page.locator("#search").fill("beta")
    await expect(page.locator(".sess__title")).to_have_text(["Beta"])
    await page.locator("#search").fill("nothing like it")
    await expect(page.locator(".side__none")).to_have_text(
        "Nothing in titles or messages."
    )
    await page.locator("#search").fill("")
    await expect(page.locator(".sess")).to_have_count(2)
    await choose("Delete")
    await page.get_by_role("button", name="Delete", exact=True).click()

    await expect(page.locator(".sess__title")).to_have_text(["Beta"])
    await expect(page.locator("#title")).to_have_text("New conversation")
    assert session_id not in backend.sessions


async def test_a_row_menu_works_by_keyboard_alone(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session("Alpha")
    page = await open_page(session_id)

    await page.get_by_role("button", name="Menu of Alpha").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await expect(page.get_by_role("button", name="Menu of Alpha")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")

    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert session_id in backend.sessions


async def test_each_conversation_keeps_its_draft(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    first = backend.add_session("First")
    backend.add_session("Second")
    page = await open_page(first)
    await page.locator("#message").fill("draft of the first")

    await page.get_by_role("link", name="Second").click()
    await expect(page.locator("#message")).to_have_value("")
    await page.get_by_role("link", name="First").click()
    await expect(page.locator("#message")).to_have_value("draft of the first")
    await page.reload()

    await expect(page.locator("#message")).to_have_value("draft of the first")


async def test_times_are_shown_in_the_readers_zone(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    message = {"role": "user", "content": "q"}
    backend.add_message(
        session_id, 1, **message, created_at="2026-11-30T23:30:00+09:00"
    )
    page = await open_page(session_id)

    shown = await page.locator(".ask time").text_content()

    expected = await page.evaluate(
        "new Date('2026-11-30T14:30:00Z').toTimeString().slice(0, 5)"
    )
    assert shown == expected


async def test_the_theme_is_chosen_and_remembered(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.locator(".side [data-act=account]").click()
    await page.get_by_role("menuitemradio", name="Dark").click()
    await page.reload()

    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert await page.evaluate(background) == "rgb(20, 24, 28)"
    assert PROJECT in page.url
