"""Web search: a provider by its key, pages with their whole text, errors in words."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from chat.agent.tools.base import ToolFailed
from chat.agent.tools.kit import NOTHING, Kit
from chat.agent.tools.web import SEARCH_WEB
from chat.websearch.domains import Domains
from chat.websearch.errors import WebSearchFailed
from chat.websearch.page import Page
from chat.websearch.search import SiteSearch, web_search
from copilot_site.lib.secret_values import mask
from tests.fakes.tavily import KEY, FakeTavily, page


@pytest.fixture
def tavily(settings: LazySettings) -> Iterator[FakeTavily]:
    with FakeTavily() as fake:
        settings.TAVILY_URL = fake.url
        settings.TAVILY_API_KEY = KEY
        yield fake


def search() -> SiteSearch:
    found = web_search()
    assert found is not None
    return found


async def test_pages_come_with_their_whole_text(tavily: FakeTavily) -> None:
    tavily.results = [page("https://a.example/1"), page("https://b.example/2")]

    one, two = await search().search("What is OSPF?", limit=3)

    assert (one.kind, one.url, one.location) == (
        "web",
        "https://a.example/1",
        "a.example",
    )
    assert one.id.startswith("web:")
    assert one.id != two.id
    assert "The whole text" in one.text
    assert one.time
    (asked,) = tavily.searches
    assert asked.key == KEY
    assert asked.body["query"] == "What is OSPF?"
    assert asked.body["max_results"] == 3
    assert asked.body["include_raw_content"] == "markdown"


async def test_the_same_page_has_the_same_id(tavily: FakeTavily) -> None:
    tavily.results = [page("https://a.example/1")]

    first, again = [(await search().search("x"))[0].id for _ in range(2)]

    assert first == again


async def test_a_long_page_is_cut_but_keeps_what_fits(
    tavily: FakeTavily, settings: LazySettings
) -> None:
    settings.WEB_SEARCH_LENGTH = 100
    tavily.results = [page("https://a.example/1", raw_content="long " * 1000)]

    (found,) = await search().search("x")

    assert len(found.text) == 100
    assert found.text.startswith("The part that fits.\n\nlong")


async def test_only_pages_of_allowed_domains_are_shown(
    tavily: FakeTavily, settings: LazySettings
) -> None:
    settings.WEB_SEARCH_ALLOW = ["example.org", "b.example"]
    settings.WEB_SEARCH_DENY = ["bad.example.org"]
    addresses = [
        "https://example.org/1",
        "https://docs.example.org/2",
        "https://bad.example.org/3",
        "https://notexample.org/4",
        "https://b.example/5",
        "javascript:alert(1)",
        "ftp://example.org/6",
        "",
    ]
    tavily.results = [page(address) for address in addresses]

    found = await search().search("x", limit=10)

    assert [one.url[-1] for one in found] == ["1", "2", "5"]
    assert tavily.searches[0].body["include_domains"] == ["example.org", "b.example"]
    # A profile may narrow it further, and never widen it.
    options = {"include_domains": ["b.example", "c.example"]}
    tavily.results.append(page("https://c.example/7"))
    narrowed = await search().search("x", limit=10, options=options)
    assert [one.url for one in narrowed] == ["https://b.example/5"]


@pytest.mark.parametrize(
    ("url", "domains", "passes"),
    [
        ("https://EXAMPLE.org./x", Domains(denied=["example.org"]), False),
        ("https://example.org:8443/x", Domains(denied=["example.org"]), False),
        ("https://example.org@evil.example/", Domains([["example.org"]]), False),
        ("https://evil.example\\@example.org/", Domains([["example.org"]]), False),
        ("https://bücher.example/", Domains(denied=["xn--bcher-kva.example"]), False),
        ("https://x.example.org", Domains([["*.example.org"]]), True),
        ("https://[::1", Domains(), False),
        ("https://anything.example", Domains(), True),
    ],
)
def test_domains_are_compared_as_they_are_looked_up(
    url: str, domains: Domains, passes: bool
) -> None:
    assert domains.let_through(url) is passes


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"status": 502}, "Tavily answered with status 502"),
        ({"status": 401}, "Tavily refuses the site's key"),
        ({"status": 429}, "Tavily's limit of searches is reached"),
        ({"status": 432}, "Tavily's limit of searches is reached"),
        ({"raw": b"<html>"}, "Tavily's answer cannot be read"),
        ({"raw": b'{"results": 3}'}, "Tavily's answer cannot be read"),
        ({"raw": b"[]"}, "Tavily's answer cannot be read"),
        ({"is_silent": True}, "Tavily did not answer within 0 s"),
    ],
)
async def test_a_failure_names_the_provider(
    tavily: FakeTavily, settings: LazySettings, fields: dict[str, Any], told: str
) -> None:
    settings.WEB_SEARCH_SECONDS = 0.3 if "is_silent" in fields else 10.0
    for name, value in fields.items():
        setattr(tavily, name, value)

    with pytest.raises(WebSearchFailed, match=told) as error:
        await search().search("x")

    assert KEY not in str(error.value)
    assert len(tavily.searches) == 1


async def test_a_server_that_is_gone_is_told(tavily: FakeTavily) -> None:
    found = search()
    tavily.end()

    with pytest.raises(WebSearchFailed, match="Tavily cannot be reached"):
        await found.search("x")


async def test_no_secret_leaves_in_a_query(tavily: FakeTavily) -> None:
    await search().search("why fails sk-abcdefghij0123456789")

    assert "abcdefghij" not in tavily.searches[0].body["query"]


def test_without_a_key_or_a_provider_the_tool_is_not_offered(
    settings: LazySettings,
) -> None:
    assert web_search() is None
    assert not SEARCH_WEB.is_available(NOTHING)
    settings.TAVILY_API_KEY = KEY
    assert SEARCH_WEB.is_available(Kit(web=web_search()))
    settings.WEB_SEARCH_PROVIDER = ""
    assert web_search() is None


async def test_a_call_without_a_provider_is_an_error_result() -> None:
    with pytest.raises(ToolFailed, match="not set up"):
        await SEARCH_WEB.call({"query": "x"}, NOTHING)


async def test_the_tool_hands_pages_over_as_evidence(tavily: FakeTavily) -> None:
    tavily.results = [page("https://a.example/1")]
    kit = Kit(web=search(), settings={"search_web": {"results": 2, "topic": "news"}})

    evidence = await SEARCH_WEB.call({"query": "x"}, kit)

    assert evidence.value["provider"] == "tavily"
    assert evidence.value["pages"][0]["cite"] == evidence.passages[0].id
    assert tavily.searches[0].body["topic"] == "news"
    assert tavily.searches[0].body["max_results"] == 2


async def test_the_key_is_masked_in_logs(tavily: FakeTavily) -> None:
    search()

    assert KEY not in mask(f"a log line with {KEY}")


def test_a_page_without_its_text_is_its_excerpt() -> None:
    assert Page("u", "t", "excerpt").shortened(4) == "exce"
    assert Page("u", "t", "", "whole").shortened(10) == "whole"
    assert Page("u", "t", "who", "whole").shortened(10) == "whole"
