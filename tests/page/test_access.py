from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

ANSWER = """**R1 has no route.** See `show ip route`.

- one
- two

| Router | Route to 192.168.2.0/24 through a rather long column |
|---|---|
| R1 | missing |

```ios
ip route 192.168.2.0 255.255.255.0 10.0.12.2 name a-rather-long-line-of-code
```
"""
OUTPUT = "C    192.168.1.0/24 is directly connected, FastEthernet0/0, and goes on " * 3


async def full_scene(backend: FakeBackend) -> str:
    """A finished, a failed and a running round, with all kinds of parts."""
    backend.is_simulated = True
    backend.llm = {"model": "offline", "is_offline": True}
    backend.add_session("A pinned conversation", pinned=True)
    session_id = backend.add_session("Why PC1 cannot reach PC2 in this long title")
    await backend.begin(session_id, "Why can't PC1 reach PC2? " + "x" * 90)
    arguments = {"devices": [{"device": "R1", "commands": ["show ip route"]}]}
    command = {"command": "show ip route", "output": OUTPUT + "\n% Bad"}
    entry = {"device": "R1", "status": "ok", "commands": [command]}
    failed = {"device": "R3", "status": "failed", "error": "R3 is stopped"}
    await backend.emit(session_id, "reasoning", content="Hm", message_id="a0")
    await backend.call_tool(
        session_id, "t1", "run_commands", arguments, {"devices": [entry]}
    )
    await backend.call_tool(
        session_id, "t2", "run_commands", arguments, {"devices": [failed]}
    )
    await backend.say(session_id, ANSWER)
    await backend.finish(session_id)
    await backend.begin(session_id, "And now?")
    await backend.call_tool(session_id, "t3", "run_commands", arguments)
    return session_id


async def opened(page: Page) -> None:
    await expect(page.locator(".run")).to_have_count(2)
    await expect(page.locator(".tp-node.is-working")).to_have_count(1)
    await page.locator("details.tool > summary").first.click()
    await page.locator("details.tool > summary").nth(1).click()


def findings(result: dict[str, Any]) -> list[str]:
    return [
        f"{v['id']} ({v['impact']}): {[n['target'] for n in v['nodes']]}"
        for v in result["violations"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
async def test_axe_finds_nothing(
    backend: FakeBackend, open_page: OpenPage, scheme: str, width: int
) -> None:
    page = await open_page(await full_scene(backend), width=width, scheme=scheme)
    await opened(page)
    if width > 1000:
        await page.locator('[data-node-id="id-R1"]').press("Enter")

    result = await Axe().run(page)

    assert findings(result.response) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_menus_dialogs_and_first_screens(
    backend: FakeBackend, open_page: OpenPage, scheme: str
) -> None:
    backend.add_session("Alpha")
    page = await open_page(scheme=scheme)
    await expect(page.locator(".hello")).to_be_visible()
    axe = Axe()
    assert findings((await axe.run(page)).response) == []

    await page.locator("#project").click()
    assert findings((await axe.run(page)).response) == []
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Menu of Alpha").press("Enter")
    await page.get_by_role("menuitem", name="Rename").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert findings((await axe.run(page)).response) == []

    login = await open_page(path="/login/", scheme=scheme)
    assert findings((await axe.run(login)).response) == []


@pytest.mark.parametrize("width", [1440, 1024, 768, 390, 320])
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
async def test_no_width_scrolls_sideways(
    backend: FakeBackend, open_page: OpenPage, width: int, direction: str
) -> None:
    page = await open_page(await full_scene(backend), width=width)
    await page.evaluate(f"document.documentElement.dir = '{direction}'")
    await opened_if_visible(page)

    wide = await page.evaluate(
        """() => [document.documentElement, document.querySelector("#thread")]
          .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.id)"""
    )

    assert wide == []


async def opened_if_visible(page: Page) -> None:
    await expect(page.locator(".run")).to_have_count(2)
    await page.locator("details.tool > summary").first.click()


async def test_drawers_open_close_with_escape_and_give_the_focus_back(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = await full_scene(backend)
    page = await open_page(session_id, width=390)
    opener = page.locator(".chat [data-act=lab]")
    await expect(page.locator(".run")).to_have_count(2)

    await opener.click()
    await expect(page.locator(".lab")).to_be_visible()
    await expect(page.locator(".lab button").first).to_be_focused()
    await page.keyboard.press("Escape")

    await expect(page.locator(".lab")).to_be_hidden()
    await expect(opener).to_be_focused()
    assert backend.posted("/stop") == []
