import json
import random

import pytest

from tests.page.conftest import OpenPage

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

PARSE = """
async ([bytes, cuts]) => {
  const { SseParser } = await import("/static/chat/stream.js");
  const parser = new SseParser();
  const all = Uint8Array.from(bytes);
  const events = [];
  let from = 0;
  for (const to of [...cuts, all.length]) {
    events.push(...parser.push(all.slice(from, to)));
    from = to;
  }
  return events;
}
"""
CUT_EVERYWHERE = """
async (bytes) => {
  const { SseParser } = await import("/static/chat/stream.js");
  const all = Uint8Array.from(bytes);
  const wanted = JSON.stringify(new SseParser().push(all));
  const wrong = [];
  for (let cut = 0; cut <= all.length; cut += 1) {
    const parser = new SseParser();
    const got = [...parser.push(all.slice(0, cut)), ...parser.push(all.slice(cut))];
    if (JSON.stringify(got) !== wanted) wrong.push(cut);
  }
  const slow = new SseParser();
  const single = [...all].flatMap((byte) => slow.push(Uint8Array.of(byte)));
  if (JSON.stringify(single) !== wanted) wrong.push("byte by byte");
  return wrong;
}
"""
STREAM = (
    '\ufeffid: 1.1\r\ndata: {"a":"žluťoučký 🐎"}\r\n\r\n'
    ": heartbeat\n\ndata:one\ndata: two\n\nevent: token\rdata: x\r\r"
    "data\nretry: 5\nunknown: y\n\nid\ndata: : colon\ufeff\n\ndata: never ended\n"
)


async def test_any_cut_of_the_bytes_gives_the_same_events(open_page: OpenPage) -> None:
    page = await open_page(path="/blank")

    assert await page.evaluate(CUT_EVERYWHERE, list(STREAM.encode())) == []


async def test_fields_follow_the_standard(open_page: OpenPage) -> None:
    page = await open_page(path="/blank")

    events = await page.evaluate(PARSE, [list(STREAM.encode()), []])

    assert [event["data"] for event in events] == [
        '{"a":"žluťoučký 🐎"}',
        "one\ntwo",
        "x",
        "",
        ": colon\ufeff",
    ]
    assert [event["event"] for event in events] == ["message"] * 2 + ["token"] + [
        "message"
    ] * 2
    assert [event["id"] for event in events] == ["1.1", "1.1", "1.1", "1.1", ""]


async def test_random_cuts_of_a_long_stream_lose_nothing(open_page: OpenPage) -> None:
    page = await open_page(path="/blank")
    texts = [f"{number} “ž” 网络 🛰 \\r\\n" for number in range(300)]
    ends = ["\n\n", "\r\n\r\n", "\r\r"]
    stream = "".join(
        f"data: {json.dumps(text, ensure_ascii=False)}{ends[i % 3]}"
        for i, text in enumerate(texts)
    ).encode()
    cuts = sorted(random.Random(7).sample(range(len(stream)), 400))

    events = await page.evaluate(PARSE, [list(stream), cuts])

    assert [json.loads(event["data"]) for event in events] == texts
