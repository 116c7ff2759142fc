"""Asynchronous client for the GNS3 v3 API; it remembers a token and nothing else."""

import asyncio
import math
import ssl
import time
from typing import Any, Self
from uuid import UUID

import httpx

from projects.gns3.answers import (
    error_for,
    not_gns3,
    parse,
    parse_list,
    read_json,
    server_message,
)
from projects.gns3.errors import (
    Gns3AuthFailed,
    Gns3BadAnswer,
    Gns3Conflict,
    Gns3Forbidden,
    Gns3LoginExpired,
    Gns3NotFound,
    Gns3ProjectNotOpened,
    Gns3Unreachable,
    Gns3VersionUnsupported,
)
from projects.gns3.types import (
    Gns3Link,
    Gns3LinkEnd,
    Gns3Node,
    Gns3Project,
    Gns3Template,
    Gns3Topology,
    Gns3User,
    Gns3Version,
)

COMPUTE_ID = "local"
NO_NODE = "00000000-0000-4000-8000-000000000000"
EXPIRED = "GNS3 no longer accepts your login. Log in to GNS3 again, then ask again."
LOCAL_HOSTS = {"", "0.0.0.0", "::", "::0", "0:0:0:0:0:0:0:0", "localhost", "::1"}


class Gns3Client:
    """One GNS3 server as one of its users; belongs to one event loop."""

    def __init__(
        self,
        base_url: str,
        *,
        username: str = "",
        password: str = "",
        token: str = "",
        token_expires_at: float = math.inf,
        timeout: float = 10.0,
        action_timeout: float = 60.0,
        verify: ssl.SSLContext | bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        url = httpx.URL(base_url)
        self._host = url.host
        self._where = f"{url.host}:{url.port}" if url.port else url.host
        self._username = username
        self._password = password
        self._token = token
        self._expires_at = token_expires_at
        self._timeout = timeout
        self._action_timeout = max(timeout, action_timeout)
        self._login_lock = asyncio.Lock()
        self._http = httpx.AsyncClient(
            base_url=url.copy_with(userinfo=b"", query=None, fragment=None),
            transport=transport,
            timeout=None,
            # Loading the list of authorities costs more than a call over plain HTTP.
            verify=verify if url.scheme == "https" else False,
            # A proxy or a .netrc of the host must not see what goes to a lab server.
            trust_env=False,
        )

    def __repr__(self) -> str:
        return f"Gns3Client({self._where!r}, username={self._username!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def version(self) -> Gns3Version:
        response = await self._send("GET", "/v3/version", token="")
        await self._raise_for(response, "read the server's version")
        return parse(Gns3Version.from_json, read_json(response, self._where))

    async def me(self) -> Gns3User:
        data = await self._read("/v3/access/users/me", "read the account")
        return parse(Gns3User.from_json, data)

    async def projects(self) -> list[Gns3Project]:
        data = await self._read("/v3/projects", "list the projects")
        return parse_list(Gns3Project.from_json, data)

    async def project(self, project_id: str) -> Gns3Project:
        data = await self._read(_project(project_id), "read the project")
        return parse(Gns3Project.from_json, data)

    async def create_project(self, name: str) -> Gns3Project:
        # GNS3 would close the project when the last window that shows it is closed.
        body = {"name": name, "auto_close": False}
        data = await self._act("POST", "/v3/projects", "create the project", body)
        return parse(Gns3Project.from_json, data)

    async def open_project(self, project_id: str) -> Gns3Project:
        path = f"{_project(project_id)}/open"
        data = await self._act("POST", path, "open the project")
        return parse(Gns3Project.from_json, data)

    async def close_project(self, project_id: str) -> None:
        path = f"{_project(project_id)}/close"
        await self._act("POST", path, "close the project")

    async def may_use_consoles(self, project_id: str) -> bool:
        """Whether GNS3 gives this user consoles there; nothing is changed."""
        # Of a node that can't exist: privileges are looked at before the node is.
        path = f"{_node(project_id, NO_NODE)}/console/reset"
        try:
            await self._act("POST", path, "use consoles")
        except (Gns3NotFound, Gns3ProjectNotOpened):
            return True
        except Gns3Forbidden:
            return False
        return True

    async def delete_project(self, project_id: str) -> None:
        await self._act("DELETE", _project(project_id), "delete the project")

    async def topology(self, project_id: str) -> Gns3Topology:
        """Project, nodes and links as the server has them now."""
        project, nodes, links = await asyncio.gather(
            self.project(project_id), self.nodes(project_id), self.links(project_id)
        )
        return Gns3Topology(project, tuple(nodes), tuple(links))

    async def nodes(self, project_id: str) -> list[Gns3Node]:
        data = await self._read(f"{_project(project_id)}/nodes", "list the nodes")
        return parse_list(self._node, data)

    async def links(self, project_id: str) -> list[Gns3Link]:
        data = await self._read(f"{_project(project_id)}/links", "list the links")
        return parse_list(Gns3Link.from_json, data)

    async def templates(self) -> list[Gns3Template]:
        data = await self._read("/v3/templates", "list the templates")
        return parse_list(Gns3Template.from_json, data)

    async def create_node(
        self, project_id: str, *, template_id: str, x: int, y: int, name: str = ""
    ) -> Gns3Node:
        """Create a node; GNS3 may keep its own name for it, so read it back."""
        template = _identifier(template_id, "template")
        path = f"{_project(project_id)}/templates/{template}"
        body = {"x": int(x), "y": int(y), "compute_id": COMPUTE_ID}
        data = await self._act("POST", path, "create the node", body)
        node = parse(self._node, data)
        if not name or name == node.name:
            return node
        return await self._rename(project_id, node, name)

    async def _rename(self, project_id: str, node: Gns3Node, name: str) -> Gns3Node:
        # The name sent with a template is ignored, and a node that runs from the start
        # (a switch) can't be renamed: then the node stays, under GNS3's name.
        path = _node(project_id, node.node_id)
        try:
            data = await self._act("PUT", path, "rename the node", {"name": name})
        except Gns3Conflict:
            return node
        return parse(self._node, data)

    async def delete_node(self, project_id: str, node_id: str) -> None:
        await self._act("DELETE", _node(project_id, node_id), "delete the node")

    async def start_node(self, project_id: str, node_id: str) -> None:
        path = f"{_node(project_id, node_id)}/start"
        await self._act("POST", path, "start the node")

    async def stop_node(self, project_id: str, node_id: str) -> None:
        path = f"{_node(project_id, node_id)}/stop"
        await self._act("POST", path, "stop the node")

    async def create_link(
        self, project_id: str, end_a: Gns3LinkEnd, end_b: Gns3LinkEnd
    ) -> Gns3Link:
        path = f"{_project(project_id)}/links"
        body = {"nodes": [end_a.to_json(), end_b.to_json()]}
        data = await self._act("POST", path, "create the link", body)
        return parse(Gns3Link.from_json, data)

    def _node(self, data: Any) -> Gns3Node:
        host = str(data.get("console_host") or "")
        if host in LOCAL_HOSTS or host.startswith("127."):
            # "This machine" is the server's machine, not ours.
            data = {**data, "console_host": self._host}
        return Gns3Node.from_json(data)

    async def _read(self, path: str, action: str) -> object:
        return await self._call("GET", path, action, None, self._timeout)

    async def _act(
        self, method: str, path: str, action: str, body: object = None
    ) -> object:
        # GNS3 wants a body, if only an empty one, with every POST.
        sent = {} if body is None and method == "POST" else body
        return await self._call(method, path, action, sent, self._action_timeout)

    async def _call(
        self, method: str, path: str, action: str, body: object, timeout: float
    ) -> object:
        if time.time() >= self._expires_at:
            # GNS3 3.0 itself would let it pass.
            raise Gns3LoginExpired(EXPIRED)
        token = self._token or await self._login(stale="")
        response = await self._send(method, path, token=token, body=body, limit=timeout)
        if response.status_code == httpx.codes.UNAUTHORIZED and self._password:
            token = await self._login(stale=token)
            response = await self._send(
                method, path, token=token, body=body, limit=timeout
            )
        await self._raise_for(response, action)
        return read_json(response, self._where)

    async def _login(self, *, stale: str) -> str:
        """A token newer than the stale one; calls that need it at once share it."""
        async with self._login_lock:
            if self._token == stale:
                self._token = await self._authenticate()
            return self._token

    async def _authenticate(self) -> str:
        if not self._username or not self._password:
            raise Gns3AuthFailed(
                f"No account is set for the GNS3 server at {self._where}. "
                "Enter its user name and password in the server's settings."
            )
        body = {"username": self._username, "password": self._password}
        path = "/v3/access/users/authenticate"
        response = await self._send("POST", path, token="", body=body)
        await self._raise_for(response, "log in")
        data = read_json(response, self._where)
        return parse(lambda answer: str(answer["access_token"]), data)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        token: str,
        body: object = None,
        limit: float = 0.0,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        seconds = limit or self._timeout
        try:
            # httpx limits each read, not the whole: a trickle would go on for ever.
            async with asyncio.timeout(seconds):
                return await self._http.request(
                    method, path, json=body, headers=headers
                )
        except (TimeoutError, httpx.TimeoutException) as exc:
            raise Gns3Unreachable(
                f"The GNS3 server at {self._where} did not answer within "
                f"{seconds:g} s. Check its load and the network, then try again."
            ) from exc
        except httpx.DecodingError as exc:
            raise not_gns3(self._where) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            advice = "Check that it runs and that its address is right."
            if "CERTIFICATE_VERIFY_FAILED" in str(exc):
                advice = "Its TLS certificate is not trusted here."
            raise Gns3Unreachable(
                f"The GNS3 server at {self._where} can't be reached. {advice}"
            ) from exc

    async def _raise_for(self, response: httpx.Response, action: str) -> None:
        status = response.status_code
        if response.is_success:
            return
        if status == httpx.codes.UNAUTHORIZED and self._token and not self._password:
            raise Gns3LoginExpired(EXPIRED)
        if status == httpx.codes.UNAUTHORIZED:
            raise Gns3AuthFailed(
                f"The GNS3 server at {self._where} refuses the account's user name, "
                "password or token. Correct it in the server's settings."
            )
        if response.is_redirect:
            raise Gns3BadAnswer(
                f"{self._where} redirects elsewhere. Enter the final address."
            )
        if status == httpx.codes.NOT_FOUND and server_message(response) is None:
            await self._raise_if_old_server()
        raise error_for(response, action, self._where)

    async def _raise_if_old_server(self) -> None:
        response = await self._send("GET", "/v2/version", token="")
        try:
            found = response.is_success and response.json()["version"]
        except (ValueError, KeyError, TypeError):
            return
        if found:
            raise Gns3VersionUnsupported(
                f"{self._where} is a GNS3 server before version 3. Version 3.0 or "
                "later is needed: upgrade it, or enter another server."
            )


def _identifier(value: str, what: str) -> str:
    """Ids become part of a path, so only real ones may reach the server."""
    try:
        return str(UUID(str(value)))
    except ValueError as exc:
        raise Gns3NotFound(f"There is no such {what}: the id is not valid.") from exc


def _project(project_id: str) -> str:
    return f"/v3/projects/{_identifier(project_id, 'project')}"


def _node(project_id: str, node_id: str) -> str:
    return f"{_project(project_id)}/nodes/{_identifier(node_id, 'node')}"
