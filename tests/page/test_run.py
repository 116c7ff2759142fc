import json

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]


def commands(device: str, command: str) -> dict[str, object]:
    return {"devices": [{"device": device, "commands": [command]}]}


def printed(device: str, command: str, output: str) -> dict[str, object]:
    result = {"command": command, "output": output, "truncated": False}
    return {"devices": [{"device": device, "status": "ok", "commands": [result]}]}


async def test_a_first_question_makes_a_conversation_and_shows_its_answer(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    page = await open_page()
    await expect(page.locator("#send")).to_be_disabled()

    await page.get_by_role("button", name="Why can't PC1 reach PC2?").click()
    await expect(page.locator(".ask__text")).to_have_text("Why can't PC1 reach PC2?")
    session_id = next(iter(backend.sessions))
    await backend.say(session_id, "Because **R1**")
    await expect(page.locator(".prose strong")).to_have_text("R1")
    await expect(page.locator(".prose .caret")).to_have_count(1)
    await expect(page.locator("#stop")).to_be_visible()
    await backend.say(session_id, " has no route.")
    await backend.finish(session_id)

    await expect(page.locator(".prose")).to_have_text("Because R1 has no route.")
    await expect(page.locator(".foot__facts")).to_have_text(
        "gpt-4.1-mini6,412 in388 out"
    )
    await expect(page.locator("#stop")).to_be_hidden()
    assert f"session={session_id}" in page.url
    await expect(page.locator(".sess[aria-current=page]")).to_have_count(1)
    await expect(page.get_by_label("unread")).to_have_count(0)
    assert backend.posted("/chat/stream") == [
        {"message": "Why can't PC1 reach PC2?", "stream": True, "mode": "text"}
    ]


async def test_interleaved_calls_keep_their_own_arguments_and_results(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    await backend.tool_call(session_id, "a", "run_commands", '{"devices": [{"device"')
    await backend.tool_call(session_id, "b", "run_commands", '{"dev')
    first = page.locator("details.tool").nth(0)
    await expect(first.locator(".args")).to_have_text('{"devices": [{"device"')
    await expect(first.locator(".tool__sum")).to_have_text("being written")
    calls = {"a": ("PC1", "show ip"), "b": ("R1", "show ip route")}
    for key, (device, command) in calls.items():
        await backend.call_tool(
            session_id, key, "run_commands", commands(device, command)
        )
    await expect(page.locator(".tp-node.is-working")).to_have_count(2)
    for key in ("b", "a"):
        device, command = calls[key]
        result = printed(device, command, f"output of {key}")
        await backend.emit(
            session_id,
            "tool_end",
            tool_name="run_commands",
            tool_call_id=key,
            tool_output=json.dumps(result),
            status="ok",
            elapsed_ms=900,
        )

    await expect(page.locator(".tp-node.is-working")).to_have_count(0)
    for number, (key, (device, command)) in enumerate(calls.items()):
        card = page.locator("details.tool").nth(number)
        await expect(card.locator(".chip")).to_have_text(device)
        await expect(card.locator(".tool__sum")).to_have_text(command)
        await card.locator("summary").click()
        await expect(card.locator(".term__out")).to_contain_text(f"output of {key}")
    prompts = page.locator(".term .ln i")
    await expect(prompts.nth(0)).to_have_text("PC1>")
    await expect(prompts.nth(1)).to_have_text("R1#")


async def test_a_failed_call_says_why_in_its_line(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    refused = {"device": "R3", "status": "failed", "error": "R3 is stopped"}
    arguments = commands("R3", "show ip route")
    output = {"devices": [refused]}
    await backend.call_tool(session_id, "a", "run_commands", arguments, output)
    failed = "GNS3 does not answer."
    await backend.call_tool(
        session_id, "b", "read_topology", {}, failed, status="error"
    )

    page = await open_page(session_id)

    await expect(page.locator(".tool--bad")).to_have_count(2)
    await expect(page.locator(".tool__sum").nth(0)).to_have_text("R3 is stopped")
    await expect(page.locator(".tool__sum").nth(1)).to_have_text(failed)
    await expect(page.locator(".chip.is-failed")).to_contain_text("R3")


async def test_code_and_answer_can_be_copied_and_tables_scroll_alone(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    await backend.say(
        session_id, "# Head\n\n```ios\nrouter ospf 1\n```\n\n|a|b|\n|-|-|\n|1|2|"
    )
    await backend.finish(session_id)

    page = await open_page(session_id)

    await expect(page.locator(".code__bar")).to_contain_text("ios")
    await expect(page.locator(".tablewrap table td")).to_have_count(2)
    await expect(page.locator(".prose h3")).to_have_text("Head")
    await page.get_by_role("button", name="Copy code").click()
    await expect(page.locator(".toast")).to_contain_text("Copied")
    await expect(page.get_by_role("button", name="Copy answer")).to_be_visible()


async def test_stop_keeps_what_was_written_and_marks_it(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    await backend.say(session_id, "All three routers")
    page = await open_page(session_id)
    await expect(page.locator(".prose")).to_have_text("All three routers")

    await page.keyboard.press("Escape")

    await expect(page.locator(".foot .badge")).to_have_text("Stopped by you")
    await expect(page.locator(".prose")).to_have_text("All three routers")
    await expect(page.locator("#stop")).to_be_hidden()
    assert len(backend.posted("/stop")) == 1


async def test_stop_before_the_first_word_leaves_no_empty_answer(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)

    await page.get_by_role("button", name="Stop (Escape)").click()

    await expect(page.locator(".foot .badge")).to_have_text("Stopped by you")
    await expect(page.locator(".prose")).to_have_count(0)
    await expect(page.get_by_role("button", name="Ask again")).to_be_visible()


async def test_a_message_during_a_run_waits_in_line(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "first")
    page = await open_page(session_id)
    await expect(page.locator("#stop")).to_be_visible()

    await page.locator("#message").fill("second")
    await page.keyboard.press("Enter")

    queued = page.locator(".ask--queued")
    await expect(queued).to_contain_text("Sent when this answer ends")
    assert backend.posted("/chat/stream")[0]["multitask_strategy"] == "enqueue"

    await backend.finish(session_id)
    await backend.emit(session_id, "attempt", round=2, discarded=[])
    await backend.say(session_id, "Second answer", "b")
    await expect(queued).to_have_count(0)
    await expect(page.locator(".prose")).to_have_text("Second answer")


async def test_discarded_text_of_a_lost_worker_disappears(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    await backend.say(session_id, "half an answ", "m1")
    page = await open_page(session_id)
    await expect(page.locator(".prose")).to_have_text("half an answ")

    await backend.emit(session_id, "attempt", attempt=2, discarded=["m1"])
    await backend.emit(
        session_id, "content", content="zombie", message_id="m1", attempt=1
    )
    await backend.emit(
        session_id, "content", content="Whole answer", message_id="m2", attempt=2
    )

    await expect(page.locator(".prose")).to_have_text("Whole answer")
    await expect(page.locator(".prose")).to_have_count(1)


async def test_a_snapshot_replaces_what_was_shown(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    number = await backend.begin(session_id, "q")
    await backend.say(session_id, "old text")
    page = await open_page(session_id)
    await expect(page.locator(".prose")).to_have_text("old text")

    user = {"id": "u", "role": "user", "content": "q", "metadata": {"round": number}}
    call = {"id": "a", "type": "function", "function": {"name": "read_topology"}}
    call["function"]["arguments"] = "{}"
    answer = {
        "id": "s",
        "role": "assistant",
        "content": "new",
        "tool_calls": [call],
        "metadata": {"round": number},
    }
    row = {"id": "a", "name": "read_topology", "arguments": "{}", "status": "running"}
    run = {"id": "run-1", "round": number, "status": "running", "error": ""}
    await backend.emit(
        session_id,
        "snapshot",
        run=run,
        messages=[user, answer],
        tool_calls=[{**row, "output": None, "message_id": "s"}],
        title="From rows",
    )
    await backend.say(session_id, "tail", "z")

    await expect(page.locator(".prose").nth(0)).to_have_text("new")
    await expect(page.locator(".prose").nth(1)).to_have_text("tail")
    await expect(page.locator(".hop.is-running")).to_have_count(1)
    await expect(page.locator("#title")).to_have_text("From rows")


async def test_the_offline_model_and_the_simulated_lab_are_always_named(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    backend.is_simulated = True
    backend.llm = {"model": "offline", "is_offline": True}
    session_id = backend.add_session("A title that is so long that nothing else fits")

    for width in (1440, 1024, 390, 320):
        page = await open_page(session_id, width=width)
        for label in ("Simulated lab", "Offline model"):
            await expect(page.locator("#labels").get_by_text(label)).to_be_in_viewport()


async def test_a_device_shows_its_ports_and_offers_a_question(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    await backend.call_tool(
        session_id,
        "a",
        "run_commands",
        commands("R1", "show ip route"),
        printed("R1", "show ip route", "x"),
    )
    page = await open_page(session_id)

    await page.locator('[data-node-id="id-R1"]').focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".dev__name")).to_have_text("R1")
    await expect(page.locator(".dev .table")).to_contain_text("R2 FastEthernet0/1")
    await expect(page.locator(".cmds")).to_contain_text("show ip route")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator('[data-node-id="id-R2"]')).to_be_focused()
    await page.get_by_role("button", name="Ask about R1").click()

    await expect(page.locator("#message")).to_have_value("What is the state of R1?")


PIECES = """
async (text) => {
  const { Prose } = await import("/static/chat/prose.js");
  const whole = new Prose();
  whole.update(text, true);
  const growing = new Prose();
  const moved = [];
  let first = null;
  for (let end = 1; end <= text.length; end += 1) {
    growing.update(text.slice(0, end), false);
    first ??= end > 60 ? growing.node.firstChild : null;
    if (first && growing.node.firstChild !== first) moved.push(end);
  }
  growing.update(text, true);
  return [whole.node.innerHTML === growing.node.innerHTML, moved.length];
}
"""


async def test_text_that_grows_ends_like_text_that_comes_whole(
    open_page: OpenPage,
) -> None:
    page = await open_page(path="/blank")
    text = (
        "# Title\n\nFirst *paragraph* of the answer, long enough to be settled.\n\n"
        "- one\n\n- two\n  continued\n\n1. a\n2. b\n\n> quote\nlazy\n\n"
        "|a|b|\n|-|-|\n|1|2|\n\nTitle\n---\n\n```ios\nip route\n\nend\n```\n"
        "    code\n\nSee [docs].\n\n[docs]: https://docs.example/a\n"
    )

    is_equal, moved = await page.evaluate(PIECES, text)

    assert is_equal
    assert moved == 0


async def test_an_answer_is_rated_and_a_bad_one_gets_words(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    await backend.say(session_id, "It is R1.")
    await backend.finish(session_id)
    good = page.get_by_role("button", name="Good answer")
    bad = page.get_by_role("button", name="Bad answer")

    await good.click()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await bad.click()
    await page.get_by_role("textbox", name="The operators of this server").fill("No.")
    await page.get_by_role("button", name="Save").click()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await expect(good).to_have_attribute("aria-pressed", "false")
    await bad.click()

    await expect(bad).to_have_attribute("aria-pressed", "false")
    told = [call for call in backend.calls if call[1].endswith("/feedback")]
    assert [(method, body) for method, _, body in told] == [
        ("POST", {"value": "up"}),
        ("POST", {"value": "down"}),
        ("POST", {"value": "down", "comment": "No."}),
        ("DELETE", None),
    ]
