"""The server as the page sees it: real templates and static files, scripted answers."""

import asyncio
import json
import mimetypes
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from aiohttp import WSMsgType, web
from django.template import Context, Engine

from projects.topology.svg import render_svg
from projects.topology.view import (
    TopologyEnd,
    TopologyLink,
    TopologyNode,
    TopologyView,
)

ROOT = Path(__file__).resolve().parents[2]
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ]
)
PROJECT = "11111111-1111-4111-8111-111111111111"
CLOSED = "22222222-2222-4222-8222-222222222222"
START = datetime(2026, 11, 30, 14, 6, 12, tzinfo=UTC)
JsonObject = dict[str, Any]


def _engine() -> Engine:
    return Engine(
        dirs=[str(ROOT / "templates")],
        libraries={
            "static": "tests.page.static_tag",
            "i18n": "django.templatetags.i18n",
        },
    )


def now() -> str:
    return datetime.now(UTC).isoformat()


def default_lab() -> JsonObject:
    nodes = [
        ("PC1", "vpcs", "started", -300, 120),
        ("SW1", "ethernet_switch", "started", -150, 120),
        ("R1", "dynamips", "started", -150, -40),
        ("R2", "dynamips", "started", 150, -40),
        ("R3", "dynamips", "stopped", 0, -180),
        ("SW2", "ethernet_switch", "started", 150, 120),
        ("PC2", "vpcs", "started", 300, 120),
    ]
    links = [
        ("PC1", "Ethernet0", "SW1", "Ethernet0", False),
        ("SW1", "Ethernet1", "R1", "FastEthernet0/0", False),
        ("R1", "FastEthernet0/1", "R2", "FastEthernet0/1", False),
        ("R1", "FastEthernet1/0", "R3", "FastEthernet0/0", True),
        ("R2", "FastEthernet0/0", "SW2", "Ethernet1", False),
        ("SW2", "Ethernet0", "PC2", "Ethernet0", False),
    ]
    return {
        "nodes": [
            {
                "node_id": f"id-{name}",
                "name": name,
                "node_type": kind,
                "status": status,
                "console_type": None if "switch" in kind else "telnet",
                "x": x,
                "y": y,
                "ports": [{"name": "Ethernet0", "short_name": "e0"}],
            }
            for name, kind, status, x, y in nodes
        ],
        "links": [
            {
                "link_id": f"{a}-{b}",
                "ends": [
                    {"node_id": f"id-{a}", "port": a_port},
                    {"node_id": f"id-{b}", "port": b_port},
                ],
                "is_suspended": is_suspended,
            }
            for a, a_port, b, b_port, is_suspended in links
        ],
    }


class FakeBackend:
    """Holds sessions and their events; tests emit, the page follows."""

    def __init__(self) -> None:
        self.is_staff = True
        self.llm: JsonObject | None = {"model": "gpt-4.1-mini", "is_offline": False}
        self.is_simulated = False
        self.profiles: list[JsonObject] = []
        self.has_projects = True
        self.lab = default_lab()
        self.opened = {PROJECT: True, CLOSED: False}
        self.sessions: dict[str, JsonObject] = {}
        self.messages: dict[str, list[JsonObject]] = {}
        self.events: dict[str, list[JsonObject]] = {}
        self.runs: dict[str, list[JsonObject]] = {}
        self.role = "owner"
        self.approvals: dict[str, JsonObject] = {}
        self.calls: list[tuple[str, str, Any]] = []
        self.keys: dict[str, JsonObject] = {}
        self.refusals: list[tuple[int, JsonObject]] = []
        self.lose_answers = 0
        self.has_sockets = True
        self.is_down = False
        self.hold: asyncio.Event | None = None
        self._sockets: dict[str, set[web.WebSocketResponse]] = {}
        self._news = asyncio.Condition()
        self._ids = count(1)
        self._seconds = count()

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._headers])
        app.add_routes(self._routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drop_sockets()
        await self._runner.cleanup()

    # --- What tests say ---------------------------------------------------

    def add_session(self, title: str = "New conversation", **values: Any) -> str:
        session_id = str(UUID(int=next(self._ids)))
        self.sessions[session_id] = {
            "id": f"row-{len(self.sessions)}",
            "thread_id": session_id,
            "project_id": PROJECT,
            "title": title,
            "message_count": 0,
            "last_message_at": now(),
            "created_at": now(),
            "updated_at": now(),
            "pinned": False,
            "active_run": None,
            **values,
        }
        self.messages[session_id] = []
        self.events[session_id] = []
        return session_id

    def add_message(self, session_id: str, number: int, **message: Any) -> None:
        metadata = {"round": number, **message.pop("metadata", {})}
        self.messages[session_id].append(
            {
                "id": f"m{next(self._ids)}",
                "created_at": now(),
                **message,
                "metadata": metadata,
            }
        )

    def start_run(self, session_id: str, text: str) -> int:
        rounds = [m["metadata"]["round"] for m in self.messages[session_id]]
        number = max(rounds, default=0) + 1
        session = self.sessions[session_id]
        if session["active_run"] is None:
            run = {"id": f"run-{number}", "round": number, "status": "running"}
            session["active_run"] = run
        self.add_message(session_id, number, role="user", content=text)
        return number

    async def begin(self, session_id: str, text: str) -> int:
        """A run that another tab started: its first events are in the log."""
        number = self.start_run(session_id, text)
        await self.emit(session_id, "attempt", round=number, discarded=[])
        message = self.messages[session_id][-1]
        await self.emit(session_id, "message", round=number, message=message)
        return number

    async def emit(self, session_id: str, kind: str, **fields: Any) -> JsonObject:
        log = self.events[session_id]
        number = fields.pop("round", None) or (log[-1]["round"] if log else 1)
        seqs = [event["seq"] for event in log if event["round"] == number]
        stamp = START + timedelta(seconds=next(self._seconds))
        event = {
            "type": kind,
            "seq": max(seqs, default=0) + 1,
            "attempt": 1,
            "session_id": session_id,
            "run_id": f"run-{number}",
            "round": number,
            "timestamp": stamp.isoformat(),
            **fields,
        }
        log.append(event)
        if kind == "title":
            self.sessions[session_id]["title"] = fields["title"]
        if kind == "done":
            self.sessions[session_id]["active_run"] = None
            self._store(session_id, number)
        async with self._news:
            self._news.notify_all()
        for socket in list(self._sockets.get(session_id, ())):
            if not socket.closed:
                await socket.send_json(event)
        return event

    def _store(self, session_id: str, number: int) -> None:
        """Rows of a finished run, as history gives them."""
        events = [e for e in self.events[session_id] if e["round"] == number]
        metadata = {"model": "gpt-4.1-mini", "lab": "real"}
        rows: dict[str, JsonObject] = {}
        for event in events:
            stamp = event["timestamp"]
            if event["type"] in ("content", "tool_call"):
                row = rows.setdefault(
                    event["message_id"],
                    {"role": "assistant", "content": "", "id": event["message_id"]},
                )
                row["created_at"] = stamp
                row["metadata"] = dict(metadata)
            if event["type"] == "content":
                row["content"] += event["content"]
            elif event["type"] == "tool_call" and event["tool_call"]["function"].get(
                "complete"
            ):
                row.setdefault("tool_calls", []).append(event["tool_call"])
            elif event["type"] == "tool_end":
                call_id = event["tool_call_id"]
                rows[f"r-{call_id}"] = {
                    "role": "tool",
                    "name": event["tool_name"],
                    "tool_call_id": call_id,
                    "content": event["tool_output"],
                    "created_at": stamp,
                    "metadata": {
                        "status": event["status"],
                        "elapsed_ms": event["elapsed_ms"],
                    },
                }
            elif event["type"] == "error":
                rows["error"] = {
                    "role": "assistant",
                    "content": event["error"],
                    "metadata": {"error": event["error"]},
                }
            elif event["type"] == "stopped" and rows:
                list(rows.values())[-1]["metadata"]["stopped"] = True
            elif event["type"] == "done":
                reason, usage = event["reason"], event["usage"]
                run = {"round": number, "status": event["status"], "reason": reason}
                self.runs.setdefault(session_id, []).append({**run, **usage})
        for row in rows.values():
            self.add_message(session_id, number, **row)

    async def say(self, session_id: str, text: str, message_id: str = "a1") -> None:
        await self.emit(session_id, "content", content=text, message_id=message_id)

    async def call_tool(
        self,
        session_id: str,
        call_id: str,
        name: str,
        arguments: JsonObject,
        output: object = None,
        *,
        status: str = "ok",
        message_id: str = "c1",
    ) -> None:
        text = json.dumps(arguments)
        await self.tool_call(session_id, call_id, name, text, message_id, True)
        fields = {"tool_name": name, "tool_call_id": call_id}
        await self.emit(session_id, "tool_start", **fields)
        if output is not None:
            answer = output if isinstance(output, str) else json.dumps(output)
            end = {"tool_output": answer, "status": status, "elapsed_ms": 820}
            await self.emit(session_id, "tool_end", **fields, **end)

    async def tool_call(
        self,
        session_id: str,
        call_id: str,
        name: str,
        text: str,
        message_id: str = "c1",
        is_complete: bool = False,
    ) -> None:
        function = {"name": name, "arguments": text, "complete": is_complete}
        call = {"id": call_id, "type": "function", "function": function}
        fields = {"tool_call_id": call_id, "message_id": message_id}
        await self.emit(session_id, "tool_call", tool_call=call, **fields)

    async def finish(self, session_id: str, status: str = "succeeded") -> None:
        usage = {"input_tokens": 6412, "output_tokens": 388, "total_tokens": 6800}
        fields = {"model": "gpt-4.1-mini", "operation": "chat", **usage}
        await self.emit(session_id, "usage", **fields)
        reason = "user" if status == "stopped" else ""
        await self.emit(session_id, "done", status=status, reason=reason, usage=usage)

    async def drop_sockets(self) -> None:
        for sockets in self._sockets.values():
            for socket in list(sockets):
                await socket.close(code=1011)

    def sockets_of(self, session_id: str) -> list[web.WebSocketResponse]:
        return list(self._sockets.get(session_id, ()))

    def posted(self, suffix: str) -> list[Any]:
        return [
            body
            for method, path, body in self.calls
            if method == "POST" and path.endswith(suffix)
        ]

    # --- What the page asks -------------------------------------------------

    def _routes(self) -> list[web.RouteDef]:
        chat = "/v3/projects/{pid}/chat"
        return [
            web.get("/", self._page),
            web.get("/blank", self._blank),
            web.get("/login/", self._login),
            web.get("/static/{path:.+}", self._static),
            web.get("/v3/me", self._me),
            web.get("/v3/projects", self._projects),
            web.get("/v3/profiles", self._profiles),
            web.post("/v3/projects/{pid}/{deed:open|close}", self._open),
            web.get("/v3/projects/{pid}/topology", self._topology),
            web.get("/v3/projects/{pid}/topology.svg", self._drawing),
            web.post(chat + "/stream", self._stream),
            web.get(chat + "/sessions", self._sessions_list),
            web.get(chat + "/sessions/{sid}", self._session),
            web.patch(chat + "/sessions/{sid}", self._rename),
            web.delete(chat + "/sessions/{sid}", self._delete),
            web.put(chat + "/sessions/{sid}/pin", self._pin),
            web.delete(chat + "/sessions/{sid}/pin", self._pin),
            web.get(chat + "/sessions/{sid}/history", self._history),
            web.get(chat + "/sessions/{sid}/runs", self._runs),
            web.post(chat + "/messages/{mid}/feedback", self._rate),
            web.delete(chat + "/messages/{mid}/feedback", self._rate),
            web.post(chat + "/sessions/{sid}/stop", self._stop),
            web.get(chat + "/sessions/{sid}/approvals", self._decisions),
            web.post(chat + "/runs/{rid}/approvals", self._decide),
            web.get(chat + "/sessions/{sid}/events", self._events),
            web.get("/ws" + chat + "/sessions/{sid}", self._socket),
        ]

    @web.middleware
    async def _headers(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        if self.is_down and request.path.startswith(("/v3", "/ws")):
            raise web.HTTPBadGateway
        if request.path.startswith("/v3"):
            body = await request.json() if request.can_read_body else None
            self.calls.append((request.method, request.path, body))
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = POLICY
        return response

    async def _page(self, _request: web.Request) -> web.Response:
        bootstrap = {
            "root": "/",
            "urls": {
                "login": "/login/",
                "logout": "/logout/",
                "admin": "/admin/",
                "settings": "/settings/",
            },
            "languages": [
                {"code": "en", "name": "English"},
                {"code": "de", "name": "Deutsch"},
            ],
        }
        template = _engine().get_template("chat/page.html")
        html = template.render(Context({"bootstrap": bootstrap}))
        return web.Response(text=html, content_type="text/html")

    async def _blank(self, _request: web.Request) -> web.Response:
        return web.Response(
            text="<!doctype html><title>t</title>", content_type="text/html"
        )

    async def _login(self, _request: web.Request) -> web.Response:
        html = _engine().get_template("registration/login.html").render(Context({}))
        return web.Response(text=html, content_type="text/html")

    async def _static(self, request: web.Request) -> web.Response:
        path = ROOT / "static" / request.match_info["path"]
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return web.Response(body=path.read_bytes(), content_type=kind)

    async def _me(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "user_id": "1",
                "username": "demo",
                "display_name": "Demo user",
                "is_staff": self.is_staff,
                "llm": self.llm,
            }
        )

    async def _profiles(self, _request: web.Request) -> web.Response:
        return web.json_response(self.profiles)

    def _project(self, project_id: str) -> JsonObject:
        return {
            "project_id": project_id,
            "name": {PROJECT: "Campus OSPF", CLOSED: "Old lab"}[project_id],
            "status": "opened" if self.opened[project_id] else "closed",
            "server": {"name": "gns3.campus.lan", "is_simulated": self.is_simulated},
            "role": self.role,
        }

    async def _projects(self, _request: web.Request) -> web.Response:
        ids = self.opened if self.has_projects else []
        return web.json_response([self._project(i) for i in ids])

    async def _open(self, request: web.Request) -> web.Response:
        project_id = request.match_info["pid"]
        self.opened[project_id] = request.match_info["deed"] == "open"
        return web.json_response(self._project(project_id))

    async def _topology(self, request: web.Request) -> web.Response:
        project = self._project(request.match_info["pid"])
        return web.json_response(
            {"project": project, "is_simulated": self.is_simulated, **self.lab}
        )

    async def _drawing(self, _request: web.Request) -> web.Response:
        keys = ("node_id", "name", "node_type", "status", "x", "y")
        view = TopologyView(
            "Campus OSPF",
            tuple(TopologyNode(*(n[k] for k in keys)) for n in self.lab["nodes"]),
            tuple(
                TopologyLink(
                    link["link_id"],
                    tuple(TopologyEnd(e["node_id"], e["port"]) for e in link["ends"]),
                    link["is_suspended"],
                )
                for link in self.lab["links"]
            ),
            self.is_simulated,
        )
        return web.Response(text=render_svg(view), content_type="image/svg+xml")

    async def _stream(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self.hold is not None:
            await self.hold.wait()
        if self.refusals:
            status, error = self.refusals.pop(0)
            return web.json_response(error, status=status)
        key = request.headers["Idempotency-Key"]
        if key not in self.keys:
            session_id = body.get("session_id") or self.add_session(body["message"])
            number = self.start_run(session_id, body["message"])
            ids = {"session_id": session_id, "run_id": f"run-{number}", "round": number}
            self.keys[key] = ids
            if self.sessions[session_id]["active_run"]["round"] == number:
                await self.emit(session_id, "attempt", round=number, discarded=[])
                message = self.messages[session_id][-1]
                await self.emit(session_id, "message", message=message)
        if self.lose_answers:
            self.lose_answers -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.keys[key], status=202)

    async def _sessions_list(self, request: web.Request) -> web.Response:
        wanted = request.query.get("q", "").lower()
        found = [s for s in self.sessions.values() if wanted in s["title"].lower()]
        found = [s for s in found if s["project_id"] == request.match_info["pid"]]
        return web.json_response(found[::-1])

    def _found(self, request: web.Request) -> JsonObject:
        session = self.sessions.get(request.match_info["sid"])
        if session is None:
            error = json.dumps({"code": "not_found", "message": "Not found."})
            raise web.HTTPNotFound(text=error, content_type="application/json")
        return session

    async def _session(self, request: web.Request) -> web.Response:
        return web.json_response(self._found(request))

    async def _rename(self, request: web.Request) -> web.Response:
        session = self._found(request)
        session.update(await request.json())
        return web.json_response(session)

    async def _delete(self, request: web.Request) -> web.Response:
        del self.sessions[self._found(request)["thread_id"]]
        return web.Response(status=204)

    async def _pin(self, request: web.Request) -> web.Response:
        session = self._found(request)
        session["pinned"] = request.method == "PUT"
        return web.json_response(session)

    async def _history(self, request: web.Request) -> web.Response:
        session = self._found(request)
        messages = self.messages[session["thread_id"]]
        ids = [message["id"] for message in messages]
        before = request.query.get("before")
        end = ids.index(before) if before else len(ids)
        messages = messages[max(0, end - int(request.query["limit"])) : end]
        return web.json_response({"title": session["title"], "messages": messages})

    async def _runs(self, request: web.Request) -> web.Response:
        return web.json_response(self.runs.get(self._found(request)["thread_id"], []))

    async def _rate(self, request: web.Request) -> web.Response:
        status = 204 if request.method == "DELETE" else 200
        return web.json_response({}) if status == 200 else web.Response(status=204)

    async def ask(self, session_id: str, *approvals: JsonObject) -> None:
        """The run waits for a person's decision on these calls."""
        for approval in approvals:
            self.approvals[approval["id"]] = {**approval, "session_id": session_id}
        number = self.events[session_id][-1]["round"]
        waiting = {"id": f"run-{number}", "round": number, "status": "waiting_approval"}
        self.sessions[session_id]["active_run"] = waiting
        await self.emit(session_id, "approval_required", approvals=list(approvals))

    async def resolve(self, approval_id: str, **fields: Any) -> JsonObject:
        """What any client decided, told to all."""
        approval = self.approvals[approval_id]
        approval |= {"decided_at": now(), "decided_by": "ada", "reason": "", **fields}
        session_id = approval["session_id"]
        await self.emit(session_id, "approval_resolved", approvals=[approval])
        return approval

    async def _decisions(self, request: web.Request) -> web.Response:
        session_id = self._found(request)["thread_id"]
        mine = [a for a in self.approvals.values() if a["session_id"] == session_id]
        return web.json_response(mine[::-1])

    async def _decide(self, request: web.Request) -> web.Response:
        if self.refusals:
            status, error = self.refusals.pop(0)
            return web.json_response(error, status=status)
        decided = []
        for decision in (await request.json())["decisions"]:
            fields: JsonObject = {
                "status": f"{decision['decision']}d".replace("td", "ted")
            }
            fields["reason"] = decision.get("reason", "")
            before = self.approvals[decision["approval_id"]]["arguments"]
            if decision.get("arguments") not in (None, before):
                fields |= {
                    "arguments": decision["arguments"],
                    "asked_arguments": before,
                }
            decided.append(await self.resolve(decision["approval_id"], **fields))
        return web.json_response({"run": {}, "approvals": decided})

    async def _stop(self, request: web.Request) -> web.Response:
        session_id = self._found(request)["thread_id"]
        await self.emit(session_id, "stopped", reason="user")
        await self.finish(session_id, "stopped")
        return web.json_response({}, status=202)

    def _after(self, request: web.Request) -> list[JsonObject]:
        log = self.events[request.match_info["sid"]]
        cursor = request.query.get("after", "")
        number, _, seq = cursor.partition(".")
        last = log[-1]["round"] if log else 0
        log = [event for event in log if event["round"] == last]
        if number == str(last):
            return [event for event in log if event["seq"] > int(seq)]
        return log

    async def _events(self, request: web.Request) -> web.StreamResponse:
        session_id = self._found(request)["thread_id"]
        replay = self._after(request)
        if not replay and not self.sessions[session_id]["active_run"]:
            return web.Response(status=204)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        log = self.events[session_id]
        sent = len(log) - len(replay)
        while True:
            async with self._news:
                while len(log) <= sent:
                    await self._news.wait()
            for event in log[sent:]:
                sent += 1
                text = f"id: {event['round']}.{event['seq']}\ndata: {json.dumps(event)}"
                await response.write(f"{text}\n\n".encode())
                if event["type"] == "done":
                    return response

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if not self.has_sockets:
            raise web.HTTPForbidden
        session_id = self._found(request)["thread_id"]
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for event in self._after(request):
            await socket.send_json(event)
        await socket.send_json({"type": "heartbeat", "session_id": session_id})
        self._sockets.setdefault(session_id, set()).add(socket)
        async for frame in socket:
            if frame.type == WSMsgType.TEXT and frame.json()["type"] == "ping":
                await socket.send_json({"type": "pong"})
        self._sockets[session_id].discard(socket)
        return socket
