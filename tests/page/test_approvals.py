"""Decisions on changes, as a person sees and makes them."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]


def change(
    number: int = 1, device: str = "PC1", *lines: str, **fields: Any
) -> dict[str, Any]:
    commands = list(lines) or ["ip 10.0.0.2/24 10.0.0.1", "show ip"]
    shown = [
        {"command": c, "effect": "read" if c.startswith("show") else "change"}
        for c in commands
    ]
    part = {"device": device, "asked": device, "dialect": "vpcs", "note": ""}
    return {
        "id": f"approval-{number}",
        "run_id": "run-1",
        "tool_call_id": f"c{number}",
        "tool_name": "run_commands",
        "message_id": "m1",
        "status": "waiting",
        "arguments": {"devices": [{"device": device, "commands": commands}]},
        "asked_arguments": None,
        "summary": f"Run lines that change {device} (1 of {len(commands)})",
        "devices": [{**part, "commands": shown, "before": "IP/MASK : 0.0.0.0/0"}],
        "notes": [],
        "question": "Give PC1 an address.",
        "reason": "",
        "requested_at": "2026-11-30T14:06:00+00:00",
        "expires_at": "2026-12-01T14:06:00+00:00",
        "decided_at": None,
        "decided_by": None,
        **fields,
    }


async def asked(backend: FakeBackend, *changes: dict[str, Any]) -> str:
    """A conversation whose run waits for decisions on these calls."""
    session_id = backend.add_session("Addresses")
    await backend.begin(session_id, "Give PC1 an address.")
    for each in changes:
        await backend.tool_call(
            session_id, each["tool_call_id"], "run_commands", "{}", is_complete=True
        )
    await backend.ask(session_id, *changes)
    return session_id


def card(page: Page, number: int = 1) -> Any:
    return page.locator(f"[data-approval=approval-{number}]")


async def picture(page: Page, name: str) -> None:
    """For the eye: kept where the caller of the tests wants pictures."""
    if folder := os.environ.get("PICTURES"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def test_the_card_shows_the_very_lines_and_approves_them(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = await asked(backend, change())
    page = await open_page(session_id)

    await expect(card(page).locator("h3")).to_have_text("Change PC1?")
    await expect(card(page).locator(".dl--add")).to_contain_text(
        "ip 10.0.0.2/24 10.0.0.1 (changes something)"
    )
    await expect(card(page)).to_contain_text("Give PC1 an address.")
    await expect(page.locator(".sess .badge--wait")).to_be_visible()
    await expect(page.locator("#live")).to_have_text("Waiting for a decision")
    placeholder = "A new message rejects the change above"
    await expect(page.locator("#message")).to_have_attribute("placeholder", placeholder)
    await expect(page.get_by_role("button", name="Approve all")).to_have_count(0)
    await picture(page, "open")

    await card(page).get_by_role("button", name="Approve").click()

    await expect(card(page).locator("h3")).to_contain_text("approved: Run lines")
    await expect(card(page).get_by_role("button")).to_have_count(0)
    assert backend.posted("/runs/run-1/approvals") == [
        {"decisions": [{"approval_id": "approval-1", "decision": "approve"}]}
    ]
    await backend.emit(session_id, "attempt", attempt=2, discarded=[])
    await expect(page.locator("#live")).to_have_text("Run commands")
    await expect(page.get_by_text("Starting again")).to_have_count(0)
    await picture(page, "approved")


async def test_a_rejection_tells_a_reason_and_works_by_keyboard(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page(await asked(backend, change()))

    await card(page).get_by_role("button", name="Reject…").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Reason, told to the copilot")).to_be_focused()
    await page.keyboard.type("Not on Fridays")
    await page.keyboard.press("Enter")

    await expect(card(page).locator("h3")).to_contain_text("“Not on Fridays”")
    [sent] = backend.posted("/approvals")
    assert sent["decisions"][0]["decision"] == "reject"
    assert sent["decisions"][0]["reason"] == "Not on Fridays"


async def test_edited_lines_are_sent_and_a_refused_edit_stays_in_the_field(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page(await asked(backend, change()))
    text = "“reload” could destroy or leave the lab."
    backend.refusals.append((422, {"code": "edit_refused", "message": text}))

    await card(page).get_by_role("button", name="Edit lines").click()
    field = page.get_by_label("Lines for PC1")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("ip 10.0.0.2/24 10.0.0.1\nshow ip")
    await field.fill("ip 10.0.0.9/24\n\nreload")
    await card(page).get_by_role("button", name="Approve as edited").click()
    await expect(card(page).get_by_role("alert")).to_have_text(text)
    await expect(field).to_have_value("ip 10.0.0.9/24\n\nreload")
    await picture(page, "editing")

    await field.fill("ip 10.0.0.9/24")
    await card(page).get_by_role("button", name="Approve as edited").click()

    await expect(card(page).locator(".badge")).to_have_text("edited")
    decision = backend.posted("/approvals")[-1]["decisions"][0]
    wanted = [{"device": "PC1", "commands": ["ip 10.0.0.9/24"]}]
    assert decision["arguments"] == {"devices": wanted}


async def test_all_calls_of_a_step_are_approved_at_once(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page(await asked(backend, change(1, "PC1"), change(2, "PC2")))

    await expect(card(page, 1)).to_be_visible()
    await page.get_by_role("button", name="Approve all").click()

    for number in (1, 2):
        await expect(card(page, number).locator("h3")).to_contain_text("approved")
    [sent] = backend.posted("/approvals")
    assert [each["approval_id"] for each in sent["decisions"]] == [
        "approval-1",
        "approval-2",
    ]


async def test_another_windows_decision_and_a_new_question_appear_live(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = await asked(backend, change())
    page = await open_page(session_id)
    await expect(card(page).get_by_role("button", name="Approve")).to_be_visible()

    note = "The configuration of PC1 has changed since it was shown."
    await backend.resolve("approval-1", status="expired", reason=note, decided_by=None)
    again = change(2, notes=[note], tool_call_id="c1")
    await backend.ask(session_id, again)

    await expect(card(page, 1).locator("h3")).to_contain_text("No longer valid")
    await expect(card(page, 2)).to_contain_text(note)
    await backend.resolve("approval-2", status="rejected", decided_by="carol")
    await expect(card(page, 2).locator("h3")).to_contain_text("carol rejected")


async def test_who_may_not_change_sees_it_without_buttons(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.role = "member"
    page = await open_page(await asked(backend, change()))

    await expect(card(page)).to_contain_text("Waits for an engineer")
    await expect(card(page).get_by_role("button")).to_have_count(0)


async def test_text_of_devices_is_only_text_and_its_origin_is_told(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    wicked = "banner <img src=x onerror=alert(1)>"
    proposal = change(1, "PC1", wicked)
    proposal["devices"][0]["commands"][0]["origin"] = "output"
    page = await open_page(await asked(backend, proposal))

    await expect(card(page).locator(".dl").first).to_contain_text(wicked)
    await expect(card(page)).to_contain_text("Also read in the output of a tool")
    await expect(card(page).locator("img")).to_have_count(0)


async def test_a_phone_in_the_dark_shows_all_of_it(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    plain = change(1, tool_name="create_nodes", devices=[], summary="Create PC3 (VPCS)")
    plain["arguments"] = {"nodes": [{"template": "VPCS", "name": "PC3"}]}
    session_id = await asked(backend, plain)
    query = {"width": 390, "height": 844, "scheme": "dark"}
    page = await open_page(session_id, **query)

    await expect(card(page).locator("h3")).to_have_text("Create PC3 (VPCS)?")
    await card(page).get_by_role("button", name="Edit lines").click()
    field = page.get_by_label("Arguments", exact=True)
    await field.fill("no JSON")
    await card(page).get_by_role("button", name="Approve as edited").click()
    await expect(card(page).get_by_role("alert")).to_contain_text("not a JSON object")
    await picture(page, "phone")
