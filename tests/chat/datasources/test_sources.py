"""Who may read which source, what is told of it, and what runs lend their tools."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.agent.tools.base import ToolFailed
from chat.agent.tools.data import DESCRIBE_DATA, QUERY_DATA
from chat.agent.tools.kit import Evidence, Kit
from chat.datasources.errors import QueryRefused, QueryTooSlow, UnknownSource
from chat.datasources.models import DataSource
from chat.datasources.service import Sources, sources_for
from chat.datasources.threads import in_query_thread
from tests.chat.api.conftest import bearer
from tests.chat.datasources.conftest import sqlite_url
from tests.conftest import PASSWORD

MakeSource = Callable[..., DataSource]


@pytest.fixture
def source(make_source: MakeSource, shop_file: Path) -> DataSource:
    return make_source(sqlite_url(shop_file), description="Things for sale.")


def query(sources: Sources, sql: str, name: str = "shop") -> Evidence:
    return async_to_sync(sources.query)(name, sql)


def call(tool: Any, sources: Sources | None, **arguments: Any) -> Any:
    return async_to_sync(tool.call)(arguments, Kit(data=sources))


# --- Who may ---------------------------------------------------------------------


def test_a_source_without_groups_is_everybodys(source: DataSource, bob: User) -> None:
    found = sources_for(bob, None)

    assert found is not None
    assert found.names() == ["shop"]


def test_a_source_of_a_group_is_nobody_elses(
    source: DataSource, alice: User, bob: User
) -> None:
    group = Group.objects.create(name="sales")
    source.groups.add(group, Group.objects.create(name="other"))
    alice.groups.add(group)

    assert sources_for(alice, None) is not None
    assert sources_for(bob, None) is None
    client = Client(headers=bearer(bob))
    assert client.get(reverse("data-source-list")).json() == []


def test_a_profile_narrows_the_sources_down(
    source: DataSource, make_source: MakeSource, shop_file: Path, alice: User
) -> None:
    make_source(sqlite_url(shop_file), slug="second")

    some, none = sources_for(alice, ["second", "foreign"]), sources_for(alice, [])

    assert some is not None
    assert some.names() == ["second"]
    assert none is None
    with pytest.raises(UnknownSource, match="no data source “shop”"):
        query(some, "SELECT 1")


def test_a_disabled_source_is_not_there(source: DataSource, alice: User) -> None:
    DataSource.objects.update(is_enabled=False)

    assert sources_for(alice, None) is None


# --- What is told ----------------------------------------------------------------


def test_the_api_tells_tables_and_notes_but_no_address(
    source: DataSource, alice: User
) -> None:
    source.notes = json.dumps(
        {"": "All in euros.", "products": "what we sell", "products.price": "net"}
    )
    source.save()

    response = Client(headers=bearer(alice)).get(reverse("data-source-list"))

    (told,) = response.json()
    tables = {table["table"]: table for table in told["tables"]}
    assert (told["source"], told["notes"], told["error"]) == (
        "shop",
        "All in euros.",
        "",
    )
    assert tables["products"]["notes"] == "what we sell"
    assert {"name": "price", "type": "numeric(10, 2)", "notes": "net"} in tables[
        "products"
    ]["columns"]
    assert "shop.sqlite" not in response.content.decode()


def test_a_silent_source_is_told_with_its_reason(
    make_source: MakeSource, alice: User
) -> None:
    make_source("postgresql://reader:a-long-password@127.0.0.1:9/shop")

    response = Client(headers=bearer(alice)).get(reverse("data-source-list"))

    (told,) = response.json()
    assert told["tables"] == []
    assert "does not answer" in told["error"]
    assert "a-long-password" not in response.content.decode()


def test_describing_holds_no_row(source: DataSource, alice: User) -> None:
    found = sources_for(alice, None)
    assert found is not None

    told = json.dumps(call(DESCRIBE_DATA, found))
    text = async_to_sync(found.schema)("shop")

    assert '"table": "products"' in told
    assert "- stock(product_id integer → products.id" in text
    for row in ("Patch cable", "open sesame", "Main store"):
        assert row not in told
        assert row not in text


def test_of_too_many_tables_only_names_are_told_at_first(
    make_source: MakeSource, tmp_path: Path, alice: User
) -> None:
    path = tmp_path / "wide.sqlite"
    with sqlite3.connect(path) as connection:
        for number in range(120):
            columns = ", ".join(f"a_long_column_{n} INTEGER" for n in range(20))
            connection.execute(f"CREATE TABLE t{number} ({columns})")
    connection.close()
    make_source(sqlite_url(path))
    found = sources_for(alice, None)

    names = call(DESCRIBE_DATA, found)["sources"][0]
    one = call(DESCRIBE_DATA, found, source="shop", tables=["t7"])["sources"][0]

    assert names["tables"][0] == {"table": "t0"}
    assert "Name the tables" in names["hint"]
    assert [table["table"] for table in one["tables"]] == ["t7"]
    assert len(one["tables"][0]["columns"]) == 20


# --- What a query gives -------------------------------------------------------------


def test_each_row_can_be_cited(source: DataSource, alice: User) -> None:
    found = sources_for(alice, None)
    assert found is not None
    query(found, "SELECT 1")

    evidence = query(found, "SELECT name, price FROM products ORDER BY id LIMIT 2")
    again = query(found, "SELECT name, price FROM products ORDER BY id DESC LIMIT 3")

    first = evidence.passages[0]
    assert (first.kind, first.title) == ("row", "shop: query 2, row 1")
    assert first.text == "name: Switch 24; price: 549.9"
    assert first.location == "products"
    assert evidence.value["query"].startswith("SELECT name, price FROM products")
    assert evidence.value["rows"][0] == {
        "cite": first.id,
        "values": ["Switch 24", 549.9],
    }
    # The same row, asked for in another way, is the same evidence.
    assert first.id == again.passages[2].id


def test_rows_of_a_large_result_are_cited_in_blocks(
    source: DataSource, alice: User
) -> None:
    found = sources_for(alice, None)
    assert found is not None

    evidence = query(
        found,
        "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n WHERE a < 90)"
        " SELECT a FROM n",
    )

    assert [passage.title[-12:] for passage in evidence.passages[:2]] == [
        "rows 1 to 20",
        "ows 21 to 40",
    ]
    assert evidence.value["rows"][25]["cite"] == evidence.passages[1].id


def test_a_profile_may_ask_for_less_but_not_for_more(
    source: DataSource, alice: User
) -> None:
    DataSource.objects.update(row_cap=2)
    less = sources_for(alice, None, settings={"row_limit": 1, "time_limit": 5})
    more = sources_for(alice, None, settings={"row_limit": 900, "time_limit": 900})
    assert less is not None
    assert more is not None

    assert query(less, "SELECT id FROM products").value["row_count"] == 1
    value = query(more, "SELECT id FROM products").value
    assert (value["row_count"], value["truncated"]) == (2, True)
    assert "There are more rows" in value["note"]


def test_the_tool_says_why_a_query_was_refused(source: DataSource, alice: User) -> None:
    found = sources_for(alice, None)

    with pytest.raises(QueryRefused, match="holds a DELETE"):
        call(
            QUERY_DATA,
            found,
            source="shop",
            sql="WITH x AS (DELETE FROM products RETURNING *) SELECT * FROM x",
        )


def test_without_a_source_there_are_no_tools(alice: User) -> None:
    kit = Kit(data=sources_for(alice, None))

    assert not DESCRIBE_DATA.is_available(kit)
    assert not QUERY_DATA.is_available(kit)
    with pytest.raises(ToolFailed):
        call(QUERY_DATA, None, source="shop", sql="SELECT 1")


async def test_a_run_that_is_stopped_ends_its_query() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(cancel: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        while not cancel.is_set():
            pass
        loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(in_query_thread(work, seconds=60))
    async with asyncio.timeout(20):
        await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with asyncio.timeout(20):
        await ended.wait()


async def test_what_does_not_end_by_itself_is_left_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat.datasources.threads._GRACE_SECONDS", 0.0)

    def work(cancel: Any) -> None:
        while not cancel.is_set():
            pass

    with pytest.raises(QueryTooSlow):
        await in_query_thread(work, seconds=0.05)


# --- The operator's pages -----------------------------------------------------------


@pytest.fixture
def admin(transactional_db: None) -> Client:
    User.objects.create_superuser("root", password=PASSWORD)
    client = Client()
    client.login(username="root", password=PASSWORD)
    return client


FORM = {
    "slug": "shop",
    "title": "Shop",
    "description": "",
    "allowed_tables": "",
    "notes": "",
    "row_cap": "100",
    "byte_cap": "8000",
    "timeout": "5",
    "is_enabled": "on",
}
ADD = "admin:datasources_datasource_add"


def test_the_address_is_written_and_never_shown(admin: Client, shop_file: Path) -> None:
    url = "postgresql://reader:a-very-secret-word@db.example.org/shop"
    response = admin.post(reverse(ADD), {**FORM, "new_secret": url})
    assert response.status_code == 302
    source = DataSource.objects.get()
    assert (source.engine, source.url) == ("postgresql", url)

    page = admin.get(
        reverse("admin:datasources_datasource_change", args=[source.pk])
    ).content.decode()
    listing = admin.get(reverse("admin:datasources_datasource_changelist"))

    assert "postgresql://reader@db.example.org:5432/shop" in page
    assert "a-very-secret-word" not in page + listing.content.decode()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "Where is the database"),
        ("mysql://a:b@c/d", "Only PostgreSQL and SQLite"),
        ("sqlite:///relative.sqlite", "whole path"),
        ("sqlite:////no/such/file.sqlite", "no such file"),
        ("postgresql://reader@host/", "names no database"),
        ("postgresql://reader@host/shop?options=-c%20x", "Not allowed"),
        ("postgresql://reader@host/shop?service=x", "Not allowed"),
        ("postgresql://reader@host:port/shop", "cannot be read"),
    ],
)
def test_a_wrong_address_is_refused_with_its_reason(
    admin: Client, url: str, reason: str
) -> None:
    response = admin.post(reverse(ADD), {**FORM, "new_secret": url})

    assert reason in response.content.decode()
    assert not DataSource.objects.exists()


def test_operators_test_a_connection(
    admin: Client, source: DataSource, make_source: MakeSource
) -> None:
    bad = make_source("postgresql://reader@127.0.0.1:9/shop", slug="silent")

    page = admin.post(
        reverse("admin:datasources_datasource_changelist"),
        {"action": "test_connections", "_selected_action": [source.pk, bad.pk]},
        follow=True,
    ).content.decode()

    assert "shop: it answers" in page
    assert "silent: The database does not answer" in page


def test_the_list_takes_as_many_queries_for_ten_as_for_one(
    admin: Client, make_source: MakeSource, shop_file: Path
) -> None:
    path = reverse("admin:datasources_datasource_changelist")
    make_source(sqlite_url(shop_file), slug="first")
    admin.get(path)
    with CaptureQueriesContext(connection) as one:
        admin.get(path)
    for number in range(9):
        make_source(sqlite_url(shop_file), slug=f"more-{number}")
    with CaptureQueriesContext(connection) as ten:
        admin.get(path)

    assert len(ten) == len(one)
