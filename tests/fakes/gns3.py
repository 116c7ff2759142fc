"""A GNS3 server with users, tokens and shared projects; it counts what it is asked."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import jwt

KEY = "the-fake-gns3-servers-own-key-0123456789"


@dataclass
class FakeUser:
    user_id: str
    username: str
    is_active: bool = True


@dataclass
class FakeGns3:
    """Tokens are JWTs of a key that only it knows; it ignores `exp`, as GNS3 3.0."""

    users: dict[str, FakeUser] = field(default_factory=dict)
    projects: dict[str, dict[str, Any]] = field(default_factory=dict)
    # (username, project id) → may also use consoles
    shared: dict[tuple[str, str], bool] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)
    status: int = 0
    refused: set[str] = field(default_factory=set)

    def add_user(self, username: str, user_id: str = "") -> FakeUser:
        number = len(self.users) + 1
        made = user_id or f"aaaaaaaa-0000-4000-8000-{number:012}"
        self.users[username] = FakeUser(made, username)
        return self.users[username]

    def add_project(self, project_id: str, name: str = "Campus") -> None:
        self.projects[project_id] = {
            "project_id": project_id,
            "name": name,
            "status": "opened",
        }

    def share(self, project_id: str, username: str, *, consoles: bool = True) -> None:
        self.shared[username, project_id] = consoles

    def token(self, username: str, **claims: Any) -> str:
        return jwt.encode({"sub": username, **claims}, KEY, algorithm="HS256")

    def asked(self, path: str) -> int:
        return sum(found == path for _, found in self.seen)

    # --- Server ---------------------------------------------------------------

    def __enter__(self) -> Self:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                status, answer = fake.answer(self.command, self.path, token, body)
                data = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = _answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(
        self, method: str, path: str, token: str, body: Any
    ) -> tuple[int, dict[str, Any] | list[Any] | None]:
        self.seen.append((method, path))
        if self.status:
            return self.status, {"message": "out of order"}
        user = self._user(token)
        if user is None:
            return 401, {"message": "Could not validate credentials"}
        if path == "/v3/access/users/me":
            return 200, {
                "user_id": user.user_id,
                "username": user.username,
                "is_superadmin": user.username == "admin",
            }
        if path == "/v3/projects" and method == "POST":
            project_id = f"bbbbbbbb-0000-4000-8000-{len(self.projects):012}"
            self.add_project(project_id, body["name"])
            self.share(project_id, user.username)
            return 201, self.projects[project_id]
        if path == "/v3/projects":
            return 200, [
                project
                for project in self.projects.values()
                if user.username == "admin"
            ]
        return self._project(method, path, user)

    def _user(self, token: str) -> FakeUser | None:
        if token in self.refused:
            return None
        try:
            # A token of ours carries no claim that it would check.
            claims = jwt.decode(
                token, KEY, algorithms=["HS256"], options={"verify_exp": False}
            )
        except jwt.InvalidTokenError:
            return None
        user = self.users.get(claims.get("sub", ""))
        return user if user and user.is_active else None

    def _project(
        self, method: str, path: str, user: FakeUser
    ) -> tuple[int, dict[str, Any] | None]:
        parts = path.split("/")
        project_id = parts[3]
        consoles = self.shared.get((user.username, project_id))
        if user.username == "admin":
            consoles = True
        if consoles is None:
            return 403, {"message": "Permission denied (privilege X.Y is required)"}
        project = self.projects.get(project_id)
        if project is None:
            return 404, {"message": f"Project ID {project_id} doesn't exist"}
        action = parts[-1] if len(parts) > 4 else ""
        if action == "reset":
            return (404 if consoles else 403), {"message": "Node ID doesn't exist"}
        if action in ("open", "close"):
            project["status"] = "opened" if action == "open" else "closed"
            return (201, project) if action == "open" else (204, None)
        if method == "DELETE":
            del self.projects[project_id]
            return 204, None
        if action in ("nodes", "links"):
            return 200, []  # type: ignore[return-value] # a list, as GNS3 has it
        return 200, project
