from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client
from rest_framework_simplejwt.tokens import RefreshToken

from chat import sockets
from chat.events.address import RunAddress
from chat.events.vocabulary import Done, LogLine
from chat.events.writer import RunLog
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from copilot_site.asgi import application
from llmconfig.models import LLMConfig
from projects.models import Membership, Project, Role
from tests.chat.conftest import InProcessWorker
from tests.chat.support import claimed, db, kinds, make_run, make_session, text_of
from tests.conftest import LAB_ID, OTHER_LAB_ID, Valkey
from tests.fakes.provider import ScriptedProvider, says, stalls

pytestmark = pytest.mark.needs("valkey")

Connect = Callable[..., Awaitable["Socket"]]


class Socket:
    """A client's end."""

    def __init__(
        self, path: str, headers: dict[str, str], protocols: list[str]
    ) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._wire = WebsocketCommunicator(application, path, pairs, protocols)

    async def open(self) -> str | None:
        """The subprotocol that the server has chosen."""
        is_open, protocol = await self._wire.connect(timeout=10)
        assert is_open
        return protocol

    async def send(self, frame: Any) -> None:
        text = frame if isinstance(frame, str) else orjson.dumps(frame).decode()
        await self._wire.send_to(text_data=text)

    async def send_bytes(self, data: bytes) -> None:
        await self._wire.send_to(bytes_data=data)

    async def receive(self) -> dict[str, Any]:
        """The next frame that is no heartbeat."""
        while True:
            text = await self._wire.receive_from(timeout=15)
            event: dict[str, Any] = orjson.loads(text)
            if event["type"] != "heartbeat":
                return event

    async def until(self, kind: str) -> list[dict[str, Any]]:
        seen = [await self.receive()]
        while seen[-1]["type"] != kind:
            seen.append(await self.receive())
        return seen

    async def closed(self) -> int:
        """The code with which the server closes; other frames are skipped."""
        while True:
            output = await self._wire.receive_output(timeout=15)
            if output["type"] == "websocket.close":
                code: int = output["code"]
                return code

    async def leave(self) -> None:
        await self._wire.disconnect(timeout=10)


@pytest.fixture
async def connect(valkey: Valkey) -> AsyncIterator[Connect]:
    """Opens sockets and leaves them at the end."""
    opened: list[Socket] = []

    async def connect(
        path: str,
        *,
        headers: dict[str, str] | None = None,
        protocols: list[str] | None = None,
    ) -> Socket:
        socket = Socket(path, headers or {}, protocols or [])
        opened.append(socket)
        await socket.open()
        return socket

    yield connect
    for socket in opened:
        await socket.leave()


def path_of(session: ChatSession, query: str = "") -> str:
    return f"/ws/v3/projects/{LAB_ID}/chat/sessions/{session.thread_id}{query}"


def token(user: User) -> str:
    return str(RefreshToken.for_user(user).access_token)


def bearer(user: User) -> dict[str, str]:
    return {"authorization": f"Bearer {token(user)}"}


def cookie(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}"


async def write(run: Run, count: int, *, ends: bool = True) -> RunLog:
    log = RunLog(RunAddress.of(run), run.attempt)
    for number in range(count):
        log.put(LogLine("info", str(number)))
    if ends:
        log.put(Done("succeeded", ""))
    await log.flush()
    return log


# --- Who is asking -----------------------------------------------------------------


async def test_a_bearer_header_needs_no_origin(
    session: ChatSession, connect: Connect
) -> None:
    socket = await connect(path_of(session), headers=bearer(session.user))

    await socket.send({"type": "ping"})

    assert await socket.receive() == {"type": "pong"}


async def test_a_cookie_from_our_own_page_is_enough(
    session: ChatSession, connect: Connect
) -> None:
    headers = {
        "cookie": await db(cookie)(session.user),
        "host": "localhost",
        "origin": "http://localhost",
    }
    socket = await connect(path_of(session), headers=headers)

    await socket.send({"type": "ping"})

    assert await socket.receive() == {"type": "pong"}


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost.evil.example",
        "http://localhost:9999",
        "null",
        "",
    ],
)
async def test_a_cookie_from_a_foreign_page_is_refused(
    session: ChatSession, connect: Connect, origin: str
) -> None:
    headers = {
        "cookie": await db(cookie)(session.user),
        "host": "localhost",
        "origin": origin,
    }
    socket = await connect(path_of(session), headers=headers)

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_a_cookie_without_an_origin_is_refused(
    session: ChatSession, connect: Connect
) -> None:
    headers = {"cookie": await db(cookie)(session.user), "host": "localhost"}
    socket = await connect(path_of(session), headers=headers)

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_a_foreign_host_is_no_own_origin(
    session: ChatSession, connect: Connect
) -> None:
    headers = {
        "cookie": await db(cookie)(session.user),
        "host": "evil.example",
        "origin": "http://evil.example",
    }
    socket = await connect(path_of(session), headers=headers)

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_a_token_as_subprotocol_is_taken_and_not_echoed(
    session: ChatSession, valkey: Valkey
) -> None:
    protocols = [f"bearer.{token(session.user)}"]
    socket = Socket(path_of(session), {}, protocols)

    assert await socket.open() is None
    await socket.send({"type": "ping"})
    assert await socket.receive() == {"type": "pong"}
    await socket.leave()


async def test_a_token_in_the_first_frame_opens_the_socket(
    session: ChatSession, connect: Connect
) -> None:
    socket = await connect(path_of(session))

    await socket.send({"type": "authenticate", "token": token(session.user)})
    await socket.send({"type": "ping"})

    assert await socket.receive() == {"type": "pong"}


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "authenticate", "token": "wrong"},
        {"type": "authenticate", "token": None},
        {"type": "authenticate"},
        {"type": "message", "message": "Let me in"},
        {"type": "ping"},
    ],
)
async def test_another_first_frame_closes_the_socket(
    session: ChatSession, connect: Connect, frame: dict[str, Any]
) -> None:
    socket = await connect(path_of(session))

    await socket.send(frame)

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED
    assert not await Message.objects.aexists()


async def test_who_says_nothing_is_closed_soon(
    session: ChatSession, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sockets._AUTHENTICATE_SECONDS == 5.0
    monkeypatch.setattr(sockets, "_AUTHENTICATE_SECONDS", 0.05)
    socket = await connect(path_of(session))

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_who_authenticates_in_time_is_not_closed_later(
    session: ChatSession, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "_AUTHENTICATE_SECONDS", 1.0)
    socket = await connect(path_of(session))
    await socket.send({"type": "authenticate", "token": token(session.user)})
    await socket.send({"type": "ping"})
    assert await socket.receive() == {"type": "pong"}

    assert await socket._wire.receive_nothing(timeout=1.3)


@pytest.mark.parametrize("query", ["?token={}", "?access_token={}"])
async def test_a_token_in_the_address_is_refused(
    session: ChatSession,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    monkeypatch.setattr(sockets, "_AUTHENTICATE_SECONDS", 0.05)
    socket = await connect(path_of(session, query.format(token(session.user))))

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_a_wrong_bearer_header_is_refused(
    session: ChatSession, connect: Connect
) -> None:
    socket = await connect(path_of(session), headers={"authorization": "Bearer no"})

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


async def test_a_stranger_finds_nothing(
    session: ChatSession, bob: User, connect: Connect
) -> None:
    socket = await connect(path_of(session), headers=bearer(bob))

    assert (await socket.receive())["code"] == "not_found"
    assert await socket.closed() == sockets.CLOSE_NOT_FOUND


async def test_a_colleague_finds_no_session_of_alice(
    session: ChatSession, lab: Project, bob: User, connect: Connect
) -> None:
    await Membership.objects.acreate(project=lab, user=bob, role=Role.OWNER)
    socket = await connect(path_of(session), headers=bearer(bob))

    assert await socket.closed() == sockets.CLOSE_NOT_FOUND


@pytest.mark.parametrize(
    "path",
    [
        f"/ws/v3/projects/undefined/chat/sessions/{OTHER_LAB_ID}",
        f"/ws/v3/projects/{LAB_ID}/chat/sessions/undefined",
        f"/ws/v3/projects/{LAB_ID}/chat/sessions/{OTHER_LAB_ID}",
    ],
)
async def test_what_does_not_exist_is_not_found(
    lab: Project, alice: User, connect: Connect, path: str
) -> None:
    socket = await connect(path, headers=bearer(alice))

    assert await socket.closed() == sockets.CLOSE_NOT_FOUND


async def test_any_other_address_is_closed_cleanly(valkey: Valkey) -> None:
    wire = WebsocketCommunicator(application, "/ws/nowhere")

    is_open, code = await wire.connect(timeout=10)

    assert (is_open, code) == (False, sockets.CLOSE_NOT_FOUND)


# --- Following -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "first"), [("", 1), ("?after=1.3", 4), ("?after=x", 1)]
)
async def test_a_run_is_replayed_from_the_cursor(
    session: ChatSession, connect: Connect, after: str, first: int
) -> None:
    run = await db(lambda: claimed(make_run(session)))()
    await write(run, 5)

    socket = await connect(path_of(session, after), headers=bearer(session.user))
    events = await socket.until("done")

    assert [event["seq"] for event in events] == list(range(first, 7))
    assert {event["round"] for event in events} == {1}


async def test_live_events_follow_the_replay(
    session: ChatSession, connect: Connect
) -> None:
    run = await db(lambda: claimed(make_run(session)))()
    log = await write(run, 2, ends=False)
    socket = await connect(path_of(session), headers=bearer(session.user))
    assert [(await socket.receive())["seq"] for _ in range(2)] == [1, 2]

    log.put(LogLine("info", "live"))
    log.put(Done("succeeded", ""))
    await log.flush()

    assert [event["seq"] for event in await socket.until("done")] == [3, 4]


async def test_one_socket_follows_run_after_run(
    session: ChatSession,
    llm: LLMConfig,
    worker: InProcessWorker,
    connect: Connect,
    provider: ScriptedProvider,
) -> None:
    provider.script(says("One."), says("Two."))
    socket = await connect(path_of(session), headers=bearer(session.user))

    seen = []
    for text in ("1", "2"):
        await socket.send({"type": "message", "message": text})
        seen.append(await socket.until("done"))

    assert [text_of(events) for events in seen] == ["One.", "Two."]
    assert [events[0]["round"] for events in seen] == [1, 2]
    for events in seen:
        numbered = [event["seq"] for event in events if "seq" in event]
        assert numbered == list(range(1, len(numbered) + 1))


async def test_a_missed_run_is_replayed_after_the_cursors(
    session: ChatSession, connect: Connect
) -> None:
    for _ in range(2):
        run = await db(lambda: claimed(make_run(session)))()
        await write(run, 1)
        await Run.objects.filter(pk=run.pk).aupdate(
            status=Status.SUCCEEDED, saved_seq=2, worker=None
        )

    socket = await connect(path_of(session, "?after=1.2"), headers=bearer(session.user))

    events = await socket.until("done")
    assert [(e["round"], e["seq"]) for e in events] == [(2, 1), (2, 2)]


async def test_a_connection_is_bounded(
    session: ChatSession, connect: Connect, settings: Any
) -> None:
    settings.CONNECTION_BYTES = 10
    run = await db(lambda: claimed(make_run(session)))()
    await write(run, 5, ends=False)

    socket = await connect(path_of(session), headers=bearer(session.user))

    assert await socket.closed() == sockets.CLOSE_RECONNECT


async def test_an_idle_socket_of_an_inactive_user_is_closed(
    session: ChatSession, connect: Connect, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    socket = await connect(path_of(session), headers=bearer(session.user))
    await socket.send({"type": "ping"})
    await socket.receive()

    await User.objects.filter(pk=session.user_id).aupdate(is_active=False)

    assert await socket.closed() == sockets.CLOSE_NOT_AUTHENTICATED


# --- Commands ------------------------------------------------------------


@pytest.fixture
async def socket(session: ChatSession, connect: Connect) -> Socket:
    return await connect(path_of(session), headers=bearer(session.user))


async def test_a_stop_ends_the_run_and_keeps_the_text(
    session: ChatSession,
    llm: LLMConfig,
    worker: InProcessWorker,
    socket: Socket,
    provider: ScriptedProvider,
) -> None:
    provider.script(stalls(after=["So far "]))
    await socket.send({"type": "message", "message": "Why?"})
    await socket.until("content")

    await socket.send({"type": "stop"})

    events = await socket.until("done")
    assert kinds(events)[-2:] == ["stopped", "done"]
    said = await Message.objects.aget(role="assistant")
    assert said.content == "So far "


async def test_a_message_repeated_with_its_id_is_one(
    session: ChatSession,
    llm: LLMConfig,
    worker: InProcessWorker,
    socket: Socket,
) -> None:
    frame = {"type": "message", "message": "Why?", "client_message_id": "m1"}

    await socket.send(frame)
    await socket.until("done")
    await socket.send(frame)
    await socket.send({"type": "ping"})
    await socket.until("pong")

    assert await Message.objects.filter(role="user").acount() == 1


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("not json", "bad_frame"),
        ("[]", "bad_frame"),
        ("null", "bad_frame"),
        ("{}", "bad_frame"),
        ({"type": 1}, "bad_frame"),
        ({"type": "dance"}, "unknown_command"),
        ({"type": "message"}, "message_empty"),
        ({"type": "message", "message": 1}, "message_empty"),
        ({"type": "message", "message": ""}, "message_empty"),
        ({"type": "message", "message": "\x00"}, "message_empty"),
        ({"type": "message", "message": "x" * 100_001}, "message_too_long"),
        ({"type": "message", "message": "x", "multitask_strategy": []}, "bad_frame"),
    ],
)
async def test_a_bad_frame_is_answered_and_the_socket_goes_on(
    socket: Socket, frame: Any, code: str
) -> None:
    await socket.send(frame)

    error = await socket.receive()
    assert (error["type"], error["code"]) == ("error", code)
    assert error["error"]
    assert "seq" not in error
    await socket.send({"type": "ping"})
    assert await socket.receive() == {"type": "pong"}
    assert not await Message.objects.aexists()


async def test_a_message_while_one_is_answered_is_an_error(
    session: ChatSession, connect: Connect
) -> None:
    await db(make_run)(session, status=Status.RUNNING)
    socket = await connect(path_of(session), headers=bearer(session.user))

    await socket.send({"type": "message", "message": "Me too"})

    assert (await socket.until("error"))[-1]["code"] == "run_active"


async def test_a_frame_that_is_too_large_closes_the_socket(socket: Socket) -> None:
    await socket.send({"type": "message", "message": "x" * 600_000})

    assert await socket.closed() == sockets.CLOSE_TOO_BIG


async def test_a_binary_frame_closes_the_socket(socket: Socket) -> None:
    await socket.send_bytes(b"\x00")

    assert await socket.closed() == sockets.CLOSE_TOO_BIG


async def test_a_viewer_may_follow_but_not_ask(
    lab: Project, bob: User, connect: Connect
) -> None:
    await Membership.objects.acreate(project=lab, user=bob, role=Role.VIEWER)
    session = await db(make_session)(bob, lab)
    socket = await connect(path_of(session), headers=bearer(bob))

    for frame in ({"type": "message", "message": "x"}, {"type": "stop"}):
        await socket.send(frame)
        assert (await socket.receive())["code"] == "forbidden"


async def test_a_role_taken_away_counts_at_the_next_command(
    session: ChatSession, socket: Socket
) -> None:
    await socket.send({"type": "ping"})
    assert (await socket.receive())["type"] == "pong"
    await Membership.objects.all().adelete()

    await socket.send({"type": "message", "message": "Still there?"})

    assert (await socket.receive())["code"] == "not_found"
    assert not await Message.objects.aexists()


async def test_the_users_own_channel_tells_of_runs_and_titles(
    session: ChatSession,
    llm: LLMConfig,
    worker: InProcessWorker,
    socket: Socket,
    connect: Connect,
) -> None:
    own = await connect("/ws/v3/me", headers=bearer(session.user))
    assert await own.receive() == {"type": "ready"}

    await socket.send({"type": "message", "message": "Why?"})

    events = await own.until("title")
    assert events[0]["type"] == "run_started"
    assert {event["session_id"] for event in events} == {session.thread_id}
