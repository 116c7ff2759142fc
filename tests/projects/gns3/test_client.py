"""How the client maps the answers of a GNS3 server (a real one: tests/gns3_lab)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from projects.gns3 import (
    Gns3AuthFailed,
    Gns3BadAnswer,
    Gns3Client,
    Gns3Conflict,
    Gns3Error,
    Gns3Forbidden,
    Gns3LinkEnd,
    Gns3NotFound,
    Gns3ProjectNotOpened,
    Gns3Unreachable,
    Gns3VersionUnsupported,
)

PROJECT = "11111111-2222-3333-4444-555555555555"
NODE = "aaaaaaaa-2222-3333-4444-555555555555"
PASSWORD = "s3cret-pass-word"

PROJECT_JSON = {"project_id": PROJECT, "name": "lab", "status": "opened"}
NODE_JSON = {
    "node_id": NODE,
    "name": "PC1",
    "node_type": "vpcs",
    "status": "started",
    "console": 5000,
    "console_host": "0.0.0.0",
    "console_type": "telnet",
    "x": 1,
    "y": 2,
    "ports": [
        {
            "name": "Ethernet0",
            "short_name": "e0",
            "adapter_number": 0,
            "port_number": 0,
        }
    ],
}


class FakeServer:
    """Answers by method and path; hands out a numbered token at each login."""

    def __init__(self) -> None:
        self.logins = 0
        self.is_token_valid: Callable[[str], bool] = lambda token: True
        self.answers: dict[tuple[str, str], httpx.Response | Exception] = {}
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        await asyncio.sleep(0)
        path = request.url.path
        if path == "/v3/access/users/authenticate":
            self.logins += 1
            if json.loads(request.content)["password"] != PASSWORD:
                return httpx.Response(401, json={"message": "unsuccessful"})
            token = {"access_token": f"token-{self.logins}", "token_type": "bearer"}
            return httpx.Response(200, json=token)
        token_sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if path != "/v3/version" and not self.is_token_valid(token_sent):
            return httpx.Response(401, json={"message": f"bad {token_sent}"})
        answer = self.answers.get((request.method, path))
        if isinstance(answer, Exception):
            raise answer
        return answer or httpx.Response(404, json={"detail": "Not Found"})

    def says(self, method: str, path: str, status: int, body: Any = None) -> None:
        self.answers[method, path] = httpx.Response(status, json=body)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
async def client(server: FakeServer) -> AsyncIterator[Gns3Client]:
    async with make_client(server) as client:
        yield client


def make_client(server: FakeServer, **arguments: Any) -> Gns3Client:
    settings = {"username": "admin", "password": PASSWORD} | arguments
    transport = httpx.MockTransport(server)
    return Gns3Client("http://gns3.example:3080", transport=transport, **settings)


async def test_node_of_a_remote_server_gets_the_servers_console_host(
    server: FakeServer, client: Gns3Client
) -> None:
    for host in ("0.0.0.0", "::", "127.0.0.1", "localhost"):
        node_json = NODE_JSON | {"console_host": host}
        server.says("GET", f"/v3/projects/{PROJECT}/nodes", 200, [node_json])

        [node] = await client.nodes(PROJECT)

        assert (node.console_host, node.console) == ("gns3.example", 5000)


async def test_console_host_that_means_another_machine_is_kept(
    server: FakeServer, client: Gns3Client
) -> None:
    node_json = NODE_JSON | {"console_host": "10.1.1.7"}
    server.says("GET", f"/v3/projects/{PROJECT}/nodes", 200, [node_json])

    [node] = await client.nodes(PROJECT)

    assert node.console_host == "10.1.1.7"


@pytest.mark.parametrize(
    "extra",
    [{"netmiko_device_type": "cisco_ios"}, {"tags": ["lab", "device_type:cisco_ios"]}],
)
async def test_device_type_comes_from_the_field_or_the_tag(
    server: FakeServer, client: Gns3Client, extra: dict[str, Any]
) -> None:
    server.says("GET", f"/v3/projects/{PROJECT}/nodes", 200, [NODE_JSON | extra])

    [node] = await client.nodes(PROJECT)

    assert node.device_type == "cisco_ios"


async def test_concurrent_calls_share_one_login(
    server: FakeServer, client: Gns3Client
) -> None:
    server.says("GET", "/v3/projects", 200, [PROJECT_JSON])

    await asyncio.gather(*(client.projects() for _ in range(5)))

    assert server.logins == 1


async def test_expired_token_is_renewed_once_for_all_concurrent_calls(
    server: FakeServer, client: Gns3Client
) -> None:
    server.says("GET", "/v3/projects", 200, [PROJECT_JSON])
    await client.projects()
    server.is_token_valid = lambda token: token == "token-2"

    results = await asyncio.gather(*(client.projects() for _ in range(5)))

    assert all(result[0].name == "lab" for result in results)
    assert server.logins == 2


async def test_refused_new_token_ends_after_one_login_with_a_clear_error(
    server: FakeServer, client: Gns3Client
) -> None:
    server.says("GET", "/v3/projects", 200, [PROJECT_JSON])
    await client.projects()
    server.is_token_valid = lambda token: False

    with pytest.raises(Gns3AuthFailed, match="refuses the account"):
        await client.projects()

    assert server.logins == 2


async def test_given_token_is_used_without_login(server: FakeServer) -> None:
    server.says("GET", "/v3/projects", 200, [PROJECT_JSON])
    async with make_client(server, username="", password="", token="mine") as client:
        await client.projects()

        server.is_token_valid = lambda token: False
        with pytest.raises(Gns3AuthFailed):
            await client.projects()

    assert server.logins == 0
    assert server.requests[0].headers["authorization"] == "Bearer mine"


async def test_wrong_password_is_named_but_never_shown(server: FakeServer) -> None:
    async with make_client(server, password="not-the-right-one") as client:
        with pytest.raises(Gns3AuthFailed) as caught:
            await client.projects()

        assert "not-the-right-one" not in f"{caught.value}{client!r}{vars(caught)}"


async def test_no_message_or_repr_holds_password_or_token(
    server: FakeServer, client: Gns3Client
) -> None:
    for status in (401, 403, 404, 409, 422, 500, 503):
        body = {"message": f"{PASSWORD} token-1 /opt/gns3/server/lib/python3"}
        server.says("GET", "/v3/projects", status, body)
        with pytest.raises(Gns3Error) as caught:
            await client.projects()
        text = f"{caught.value} {caught.value!r} {client!r}"
        assert not any(s in text for s in (PASSWORD, "token-1", "/opt"))


@pytest.mark.parametrize(
    ("status", "message", "error", "text"),
    [
        (403, "The project is not opened", Gns3ProjectNotOpened, "Open it first"),
        (
            403,
            "Permission denied (privilege Project.Audit is required)",
            Gns3Forbidden,
            "Project.Audit",
        ),
        (404, f"Project ID {PROJECT} doesn't exist", Gns3NotFound, "Read the project"),
        (409, "uBridge is not available: /root/x.log", Gns3Conflict, "uBridge"),
        (409, "unable to create NIO\nlog /srv/a", Gns3Conflict, "Read the topology"),
        (422, "value is not valid\n/usr/lib/x.py", Gns3BadAnswer, "did not accept"),
        (500, "Database error detected", Gns3BadAnswer, "internal error"),
        (503, "later", Gns3Unreachable, "not available now"),
    ],
)
async def test_error_says_what_to_do_and_hides_the_servers_text(
    server: FakeServer,
    client: Gns3Client,
    status: int,
    message: str,
    error: type[Gns3Error],
    text: str,
) -> None:
    path = f"/v3/projects/{PROJECT}/nodes"
    server.says("GET", path, status, {"message": message})

    with pytest.raises(error, match=text) as caught:
        await client.nodes(PROJECT)

    assert "/" not in str(caught.value).replace("try/", "")


@pytest.mark.parametrize("bad_id", ["undefined", "", "../access/users", "1"])
async def test_malformed_id_is_not_found_without_a_call(
    server: FakeServer, client: Gns3Client, bad_id: str
) -> None:
    with pytest.raises(Gns3NotFound):
        await client.project(bad_id)

    assert server.requests == []


async def test_refused_connection_names_the_server(
    server: FakeServer, client: Gns3Client
) -> None:
    server.answers["GET", "/v3/version"] = httpx.ConnectError("refused")

    with pytest.raises(Gns3Unreachable, match="gns3.example:3080"):
        await client.version()


async def test_server_that_trickles_is_cut_off_after_the_time_limit() -> None:
    async def trickle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await asyncio.sleep(0.02)

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Gns3Client(f"http://127.0.0.1:{port}", timeout=0.2) as client:
        with pytest.raises(Gns3Unreachable, match=r"within 0\.2 s"):
            await client.version()


async def test_web_page_is_not_taken_for_a_gns3_server(
    server: FakeServer, client: Gns3Client
) -> None:
    page = httpx.Response(200, html="<html>router login</html>")
    server.answers["GET", "/v3/version"] = page

    with pytest.raises(Gns3BadAnswer, match="not as a GNS3 server"):
        await client.version()


async def test_json_of_something_else_is_not_taken_for_a_gns3_server(
    server: FakeServer, client: Gns3Client
) -> None:
    server.says("GET", "/v3/version", 200, {"status": "UP"})

    with pytest.raises(Gns3BadAnswer):
        await client.version()


async def test_server_before_version_3_is_recognised(
    server: FakeServer, client: Gns3Client
) -> None:
    server.answers["GET", "/v3/version"] = httpx.Response(404, text="404: Not Found")
    server.says("GET", "/v2/version", 200, {"version": "2.2.54", "local": False})

    with pytest.raises(Gns3VersionUnsupported, match="before version 3"):
        await client.version()


async def test_simulated_lab_says_so(server: FakeServer, client: Gns3Client) -> None:
    server.says("GET", "/v3/version", 200, {"version": "3.0.6", "simulated": True})

    version = await client.version()

    assert (version.version, version.is_simulated) == ("3.0.6", True)


async def test_redirect_is_reported_instead_of_followed(
    server: FakeServer, client: Gns3Client
) -> None:
    redirect = httpx.Response(301, headers={"location": "https://elsewhere/"})
    server.answers["GET", "/v3/version"] = redirect

    with pytest.raises(Gns3BadAnswer, match="redirects"):
        await client.version()


async def test_node_that_can_not_be_renamed_is_returned_under_its_own_name(
    server: FakeServer, client: Gns3Client
) -> None:
    path = f"/v3/projects/{PROJECT}/templates/{NODE}"
    server.says("POST", path, 201, NODE_JSON)
    path = f"/v3/projects/{PROJECT}/nodes/{NODE}"
    server.says("PUT", path, 409, {"message": "already powered on"})

    node = await client.create_node(PROJECT, template_id=NODE, x=0, y=0, name="Sw")

    assert node.name == "PC1"


async def test_free_ports_follow_the_servers_links(
    server: FakeServer, client: Gns3Client
) -> None:
    end = {"node_id": NODE, "adapter_number": 0, "port_number": 0}
    link = {"link_id": "l1", "nodes": [end, end], "suspend": False}
    server.says("GET", f"/v3/projects/{PROJECT}", 200, PROJECT_JSON)
    server.says("GET", f"/v3/projects/{PROJECT}/nodes", 200, [NODE_JSON])
    server.says("GET", f"/v3/projects/{PROJECT}/links", 200, [link])

    used = await client.topology(PROJECT)
    server.says("GET", f"/v3/projects/{PROJECT}/links", 200, [])
    free = await client.topology(PROJECT)

    assert used.links[0].ends[0] == Gns3LinkEnd(NODE, 0, 0)
    assert used.free_ports(NODE) == []
    assert [port.short_name for port in free.free_ports(NODE)] == ["e0"]
