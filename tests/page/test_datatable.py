import json

import pytest
from playwright.async_api import Locator, expect

from tests.page.conftest import OpenPage
from tests.page.fake_backend import FakeBackend

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

SQL = "SELECT name, SUM(quantity) AS total FROM stock GROUP BY name"
PER_LOCATION = [["Main store", 787], ["Lab 2", 220], ["<b>Lab</b> 1", 161]]


def rows(columns: list[str], values: list[list[object]], **more: object) -> str:
    return json.dumps(
        {
            "source": "inventory",
            "query": SQL,
            "columns": columns,
            "rows": [
                {"cite": f"[{number}]", "values": row}
                for number, row in enumerate(values, 1)
            ],
            "row_count": len(values),
            "truncated": False,
            **more,
        }
    )


async def card(backend: FakeBackend, open_page: OpenPage, output: str) -> Locator:
    """The opened card of a query with this result."""
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    await backend.call_tool(
        session_id, "a", "query_data", {"source": "inventory", "sql": SQL}, output
    )
    found = page.locator("details.tool")
    await found.locator("summary").click()
    return found


async def test_a_result_shows_its_query_its_rows_and_bars(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    tool = await card(backend, open_page, rows(["location", "total"], PER_LOCATION))

    await expect(tool.locator(".tool__sum")).to_have_text("3 rows")
    await expect(tool.locator("pre")).to_have_text(SQL)
    await expect(tool.get_by_role("button", name="Copy the query")).to_be_visible()
    await expect(tool.get_by_role("columnheader")).to_have_text(
        ["Source", "location", "total"]
    )
    first = tool.locator("tbody tr").first
    await expect(first).to_have_id("row-a-1")
    await expect(first.locator(".cite")).to_have_text("1")
    await expect(first.locator("td")).to_have_text(["Main store", "787"])
    await expect(tool.get_by_role("img", name="total by location")).to_be_visible()
    await expect(tool.locator("rect")).to_have_count(3)
    # What a row says stays text.
    await expect(tool.locator("tbody tr").nth(2)).to_contain_text("<b>Lab</b> 1")


async def test_many_rows_come_in_pages_and_a_cut_is_told(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    many: list[list[object]] = [[f"Item {n}", n, None] for n in range(1, 48)]
    tool = await card(
        backend, open_page, rows(["name", "number", "note"], many, truncated=True)
    )

    await expect(tool.locator("tbody tr")).to_have_count(20)
    await expect(tool.get_by_role("status")).to_have_text("Rows 1 to 20 of 47")
    await expect(tool.get_by_role("button", name="Previous")).to_be_disabled()
    await tool.get_by_role("button", name="Next").click()
    await tool.get_by_role("button", name="Next").press("Enter")
    await expect(tool.get_by_role("status")).to_have_text("Rows 41 to 47 of 47")
    await expect(tool.locator("tbody tr").last).to_contain_text("Item 47")
    await expect(tool.get_by_role("button", name="Next")).to_be_disabled()
    await expect(tool.get_by_text("the database has more")).to_be_visible()
    await expect(tool.locator("svg.data__bars")).to_have_count(0)


async def test_a_refused_query_is_shown_with_its_reason(
    backend: FakeBackend, open_page: OpenPage
) -> None:
    session_id = backend.add_session()
    await backend.begin(session_id, "q")
    page = await open_page(session_id)
    reason = {"error": "The query was not run: it holds a DELETE, which changes data."}

    await backend.call_tool(
        session_id, "a", "query_data", {"source": "x", "sql": "DELETE"},
        json.dumps(reason), status="error",
    )  # fmt: skip

    await expect(page.locator(".tool__sum")).to_contain_text("it holds a DELETE")
