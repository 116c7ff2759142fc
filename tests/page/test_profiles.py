"""Who answers: the choice in a new conversation, and the settings of an answer."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]


def profile(name: str, title: str, **values: Any) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "description": f"About {title}.",
        "greeting": f"{title} greets.",
        "questions": [f"What does {title} suggest?"],
        "tools": ["read_topology", "run_commands"],
        "is_default": name == "lab",
        **values,
    }


@pytest.fixture
def profiles(backend: FakeBackend) -> list[dict[str, Any]]:
    backend.profiles = [
        profile("lab", "Lab automation"),
        profile("teaching", "Teaching assistant", tools=["read_topology"]),
    ]
    return backend.profiles


async def test_a_new_conversation_offers_the_profiles_by_keyboard(
    backend: FakeBackend, profiles: Any, open_page: OpenPage
) -> None:
    page = await open_page()
    group = page.get_by_role("group", name="Assistant")
    await expect(group.get_by_role("radio", name="Lab automation")).to_be_checked()
    await expect(page.locator(".hello h2")).to_have_text("Lab automation greets.")

    await group.get_by_role("radio", name="Lab automation").focus()
    await page.keyboard.press("ArrowDown")

    chosen = group.get_by_role("radio", name="Teaching assistant")
    await expect(chosen).to_be_checked()
    await expect(chosen).to_be_focused()
    await expect(chosen).to_have_accessible_description("About Teaching assistant.")
    await expect(page.locator(".hello h2")).to_have_text("Teaching assistant greets.")


async def test_a_suggested_question_is_sent_to_the_chosen_profile(
    backend: FakeBackend, profiles: Any, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.get_by_role("radio", name="Teaching assistant").check()

    await page.get_by_role("button", name="What does Teaching assistant").click()

    await expect(page.locator(".ask__text")).to_contain_text("What does Teaching")
    (body,) = backend.posted("/stream")
    assert body["profile"] == "teaching"
    assert body["message"] == "What does Teaching assistant suggest?"


async def test_the_choice_stays_focused_while_the_page_looks_for_news(
    backend: FakeBackend, profiles: Any, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.get_by_role("radio", name="Lab automation").focus()

    await page.locator("#project-name").evaluate(
        "() => dispatchEvent(new Event('online'))"
    )
    await page.evaluate("() => new Promise(requestAnimationFrame)")

    await expect(page.get_by_role("radio", name="Lab automation")).to_be_focused()


async def test_a_conversation_bears_its_profile_and_the_next_message_may_change_it(
    backend: FakeBackend, profiles: Any, open_page: OpenPage
) -> None:
    session_id = backend.add_session("Masks", profile="teaching")
    backend.add_message(session_id, 1, role="user", content="What is a mask?")
    backend.add_message(session_id, 1, role="assistant", content="What do you think?")
    page = await open_page(session_id)
    await expect(page.locator("#labels")).to_contain_text("Teaching assistant")
    await expect(page.locator("#profile-name")).to_have_text("Teaching assistant")

    await page.locator("#profile").click()
    await page.get_by_role("menuitemradio", name="Lab automation").click()
    await page.locator("#message").fill("Now build it")
    await page.keyboard.press("Enter")

    await expect(page.locator(".ask__text").last).to_have_text("Now build it")
    assert backend.posted("/stream")[-1]["profile"] == "lab"


async def test_without_profiles_the_page_asks_as_before(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page()
    await expect(page.locator("#profile")).to_be_hidden()

    await page.get_by_role("button", name="Why can't PC1 reach PC2?").click()

    await expect(page.locator(".ask__text")).to_have_text("Why can't PC1 reach PC2?")
    assert "profile" not in backend.posted("/stream")[0]


async def test_temperature_and_length_of_the_answer_can_be_set(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.get_by_role("button", name="Answer settings").click()
    await page.get_by_label("Temperature").fill("3")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Temperature")).to_have_attribute(
        "aria-invalid", "true"
    )

    await page.get_by_label("Temperature").fill("0.2")
    await page.get_by_label("Longest answer").fill("500")
    await page.keyboard.press("Enter")
    await expect(page.locator("#parameters")).to_have_attribute(
        "aria-label", "Answer settings, Temperature 0.2, Longest answer 500"
    )
    await page.locator("#message").fill("Hello")
    await page.keyboard.press("Enter")

    await expect(page.locator(".ask__text")).to_have_text("Hello")
    (body,) = backend.posted("/stream")
    assert (body["temperature"], body["max_tokens"]) == (0.2, 500)


async def test_escape_closes_the_settings_and_stops_nothing(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "Why?")
    page = await open_page(session_id)
    await expect(page.locator("#stop")).to_be_visible()
    await page.get_by_role("button", name="Answer settings").click()

    await page.keyboard.press("Escape")

    await expect(page.locator(".pop--float")).to_have_count(0)
    await expect(page.locator("#parameters")).to_be_focused()
    assert backend.posted("/stop") == []
