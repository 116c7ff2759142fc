"""GNS3's addresses for LLM configs: shapes, owners, keys, versions."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from copilot_site.lib.fields import Unreadable
from llmconfig.changes import create_config
from llmconfig.models import LLMConfig
from llmconfig.owners import Owner
from tests.chat.api.conftest import bearer

pytestmark = pytest.mark.database

KEY = "sk-test-0123456789-wxyz"
# As GNS3's clients send it.
NEW = {
    "name": "Mine",
    "model_type": "text",
    "provider": "openai",
    "base_url": "https://models.example/v1",
    "model": "deepseek/deepseek-chat:free",
    "context_limit": 64,
    "api_key": KEY,
    "temperature": 0.3,
    "copilot_mode": "teaching_assistant",
}


@pytest.fixture
def client(alice: User) -> Client:
    return Client(headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(headers=bearer(bob))


@pytest.fixture
def staff(transactional_db: None) -> Client:
    return Client(headers=bearer(User.objects.create_superuser("root")))


@pytest.fixture
def group(alice: User) -> Group:
    group = Group.objects.create(name="students")
    alice.groups.add(group)
    return group


def mine(user: User, rest: str = "") -> str:
    return f"/v3/access/users/{user.pk}/llm-model-configs{rest}"


def ours(group: Group, rest: str = "") -> str:
    return f"/v3/access/groups/{group.pk}/llm-model-configs{rest}"


def put(client: Client, path: str, **body: Any) -> Any:
    return client.put(path, body, content_type="application/json")


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(path, body, content_type="application/json")


def made(name: str = "Stored", **fields: Any) -> LLMConfig:
    values = {"base_url": "https://models.example/v1", "model": "m", "api_key": KEY}
    return LLMConfig.objects.create(name=name, **{**values, **fields})


# --- Shapes -------------------------------------------------------------------


def test_a_config_is_made_in_gns3s_shape(client: Client, alice: User) -> None:
    response = post(client, mine(alice), NEW)

    assert response.status_code == 201
    body = response.json()
    shape = "config_id name model_type config user_id group_id is_default version"
    assert set(body) == {*shape.split(), "created_at", "updated_at"}
    assert body["user_id"] == str(alice.pk)
    assert body["group_id"] is None
    assert body["version"] == 1
    settings = body["config"]
    for name in ("provider", "base_url", "model", "context_limit", "temperature"):
        assert settings[name] == NEW[name]
    assert (settings["api_key"], settings["key"]) == (None, "stored")
    # What this product does not know is kept for whoever does.
    assert settings["copilot_mode"] == "teaching_assistant"
    assert LLMConfig.objects.get().api_key == KEY


def test_one_user_has_several(client: Client, alice: User) -> None:
    for name in ("one", "two", "three"):
        assert post(client, mine(alice), {**NEW, "name": name}).status_code == 201

    assert client.get(mine(alice, "/own")).json()["total"] == 3


def test_all_settings_come_back_as_they_were_sent(client: Client, alice: User) -> None:
    sent = {
        "capabilities": {"tools": True, "vision": False},
        "operations": ["chat", "title"],
        "mode": "fast",
        "priority": 5,
        "prompts_tools": False,
        "input_price": 0.5,
        "output_price": 2,
        "max_tokens": 1000,
        "context_strategy": "aggressive",
        "sends_reasoning": True,
    }

    settings = post(client, mine(alice), {**NEW, **sent}).json()["config"]

    assert settings.pop("capabilities") == {
        "tools": True,
        "vision": False,
        "structured_output": None,
        "reasoning": None,
    }
    assert {name: settings[name] for name in sent if name != "capabilities"} == {
        name: value for name, value in sent.items() if name != "capabilities"
    }


def test_an_answer_can_be_sent_back_as_it_is(client: Client, alice: User) -> None:
    body = post(client, mine(alice), NEW).json()

    response = put(client, mine(alice, f"/{body['config_id']}"), **body)

    assert response.status_code == 200
    assert response.json()["config"] == body["config"]
    assert LLMConfig.objects.get().api_key == KEY


def test_inherited_ones_say_where_they_come_from(
    client: Client, alice: User, group: Group
) -> None:
    made("site")
    made("group", group=group, is_default=True)
    own = made("own", user=alice)
    made("another group", group=Group.objects.create(name="others"))

    body = client.get(mine(alice)).json()

    found = [(one["name"], one["source"], one["group_name"]) for one in body["configs"]]
    assert found == [
        ("own", "user", None),
        ("group", "group", "students"),
        ("site", "site", None),
    ]
    assert body["total"] == 3
    assert body["default_config"]["config_id"] == str(own.pk)
    assert body["answering"]["reason"] == "your own config “own”"
    assert len(body["answering"]["fallbacks"]) == 2
    assert client.get(mine(alice, "/default")).json()["name"] == "own"


def test_no_default_is_404(client: Client, alice: User, group: Group) -> None:
    assert client.get(mine(alice, "/default")).status_code == 404
    assert client.get(ours(group, "/default")).status_code == 404
    assert client.get(mine(alice)).json()["answering"]["is_offline"]


def test_a_new_default_ends_the_old_one(client: Client, alice: User) -> None:
    first = post(client, mine(alice), {**NEW, "is_default": True}).json()
    second = post(client, mine(alice), {**NEW, "is_default": True}).json()
    third = post(client, mine(alice), NEW).json()

    response = put(client, mine(alice, f"/default/{third['config_id']}"))

    assert response.json()["is_default"]
    defaults = LLMConfig.objects.filter(is_default=True)
    assert [str(one.pk) for one in defaults] == [third["config_id"]]
    assert {first["is_default"], second["is_default"]} == {True}


def test_a_deleted_config_is_gone(client: Client, alice: User) -> None:
    config = made(user=alice)

    assert client.delete(mine(alice, f"/{config.pk}")).status_code == 204
    assert client.delete(mine(alice, f"/{config.pk}")).status_code == 404
    assert not LLMConfig.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "models/v1"),
        ("base_url", "http://a:b@models/v1"),
        ("temperature", 3),
        ("context_limit", 0),
        ("model_type", "magic"),
        ("operations", ["magic"]),
        ("mode", "magic"),
        ("name", ""),
        ("model", None),
        ("capabilities", {"tools": "perhaps"}),
    ],
)
def test_what_is_not_valid_is_told_by_its_field(
    client: Client, alice: User, field: str, value: Any
) -> None:
    response = post(client, mine(alice), {**NEW, field: value})

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"].startswith(field)


def test_what_is_missing_is_named(client: Client, alice: User) -> None:
    response = post(client, mine(alice), {"name": "x"})

    missing = {error["field"] for error in response.json()["errors"]}
    assert missing == {"provider", "base_url", "model", "context_limit"}


# --- Keys ---------------------------------------------------------------------


def test_no_answer_holds_the_key(client: Client, alice: User) -> None:
    created = post(client, mine(alice), NEW)
    path = mine(alice, f"/{created.json()['config_id']}")
    answers = [
        created,
        client.get(mine(alice)),
        client.get(mine(alice, "/own")),
        client.get(mine(alice, "/default")),
        put(client, path, name="Other"),
        put(client, path, api_key=f"{KEY}-new"),
        put(client, path, api_key=KEY, temperature=9),
    ]

    assert all(KEY not in answer.content.decode() for answer in answers)


def raw_key(config: LLMConfig) -> bytes:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT api_key FROM llmconfig_llmconfig WHERE id = %s", [config.pk]
        )
        return bytes(cursor.fetchone()[0])


@pytest.mark.parametrize("sent", [{}, {"api_key": None}])
def test_editing_the_name_keeps_the_stored_bytes(
    client: Client, alice: User, sent: dict[str, Any]
) -> None:
    config = made(user=alice)
    before = raw_key(config)

    put(client, mine(alice, f"/{config.pk}"), name="Renamed", **sent)

    config.refresh_from_db()
    assert config.name == "Renamed"
    assert raw_key(config) == before


def test_what_no_key_opens_survives_an_edit(
    client: Client, alice: User, settings: Settings
) -> None:
    config, ring = made(user=alice), settings.ENCRYPTION_KEYS
    before = raw_key(config)
    settings.ENCRYPTION_KEYS = ["another-key-that-opens-nothing-old-at-all"]

    answer = put(client, mine(alice, f"/{config.pk}"), name="Renamed")

    assert answer.json()["config"]["key"] == "unreadable"
    assert raw_key(config) == before
    config.refresh_from_db()
    assert isinstance(config.api_key, Unreadable)
    settings.ENCRYPTION_KEYS = ring
    config.refresh_from_db()
    assert config.api_key == KEY


def test_an_empty_key_forgets_it(client: Client, alice: User) -> None:
    config = made(user=alice)

    answer = put(client, mine(alice, f"/{config.pk}"), api_key="")

    assert answer.json()["config"]["key"] == "none"


def test_a_stored_key_does_not_go_to_another_server(
    client: Client, alice: User
) -> None:
    config = made(user=alice)
    path, elsewhere = mine(alice, f"/{config.pk}"), "https://elsewhere.example/v1"

    refused = put(client, path, base_url=elsewhere)
    assert refused.status_code == 422
    assert "another server" in refused.json()["message"]

    same_server = put(client, path, base_url="https://models.example/v2")
    assert same_server.status_code == 200
    assert put(client, path, base_url=elsewhere, api_key="new").status_code == 200


# --- Versions -------------------------------------------------------------------


def test_a_change_to_an_older_version_is_a_conflict(
    client: Client, alice: User
) -> None:
    config = made(user=alice)
    path = mine(alice, f"/{config.pk}")
    put(client, path, name="First", expected_version=1)

    response = put(client, path, name="Second", expected_version=1)

    assert response.status_code == 409
    assert response.json()["code"] == "version_conflict"
    config.refresh_from_db()
    assert (config.name, config.version) == ("First", 2)


def test_a_conflict_leaves_the_defaults_alone(client: Client, alice: User) -> None:
    default = made(user=alice, is_default=True)
    other = made(user=alice)

    response = put(client, mine(alice, f"/default/{other.pk}"), expected_version=7)

    assert response.status_code == 409
    default.refresh_from_db()
    assert default.is_default


# --- Owners ---------------------------------------------------------------------

ON_ONE = [("PUT", "/{id}"), ("DELETE", "/{id}"), ("PUT", "/default/{id}")]
OF_USERS = [
    ("GET", ""),
    ("POST", ""),
    ("GET", "/own"),
    ("GET", "/default"),
    ("POST", "/test"),
    ("POST", "/models"),
    *ON_ONE,
]
OF_GROUPS = [case for case in OF_USERS if case[1] != "/own"]


def ask(client: Client, method: str, path: str, **body: Any) -> Any:
    return client.generic(
        method, path, '{"name": "x"}', content_type="application/json"
    )


@pytest.mark.parametrize(("method", "rest"), OF_USERS)
def test_a_stranger_finds_nothing_of_a_user(
    stranger: Client, alice: User, method: str, rest: str
) -> None:
    config = made(user=alice)

    response = ask(stranger, method, mine(alice, rest.format(id=config.pk)))

    assert response.status_code == 404
    config.refresh_from_db()
    assert config.version == 1


@pytest.mark.parametrize(("method", "rest"), OF_GROUPS)
def test_a_stranger_finds_nothing_of_a_group(
    stranger: Client, group: Group, method: str, rest: str
) -> None:
    config = made(group=group)

    response = ask(stranger, method, ours(group, rest.format(id=config.pk)))

    assert response.status_code == 404


@pytest.mark.parametrize(("method", "rest"), [("POST", ""), *ON_ONE])
def test_members_read_and_do_not_write(
    client: Client, group: Group, method: str, rest: str
) -> None:
    config = made(group=group, is_default=True)
    path = ours(group, rest.format(id=config.pk))
    assert client.get(ours(group)).json()["total"] == 1
    assert client.get(ours(group, "/default")).status_code == 200

    body = NEW if method == "POST" else {"name": "x"}
    response = client.generic(
        method,
        path,
        json.dumps(body),
        content_type="application/json",
    )

    assert response.status_code == 403
    config.refresh_from_db()
    assert config.version == 1


@pytest.mark.parametrize(("method", "rest"), [*OF_USERS])
def test_nobody_is_asked_to_log_in(alice: User, method: str, rest: str) -> None:
    assert ask(Client(), method, mine(alice, rest.format(id=1))).status_code == 401


def test_anothers_config_is_not_found_at_ones_own_address(
    client: Client, alice: User, bob: User
) -> None:
    config = made(user=bob)

    for method, rest in ON_ONE:
        path = mine(alice, rest.format(id=config.pk))
        assert ask(client, method, path).status_code == 404


def test_an_inherited_config_is_not_changed_at_ones_own_address(
    client: Client, alice: User, group: Group
) -> None:
    config = made(group=group)

    assert put(client, mine(alice, f"/{config.pk}"), name="x").status_code == 404


@pytest.mark.parametrize("text", ["undefined", "0", "-1", "9" * 30, "%00", "1e3"])
def test_what_is_no_id_is_not_found(client: Client, alice: User, text: str) -> None:
    users = f"/v3/access/users/{text}/llm-model-configs"
    groups = f"/v3/access/groups/{text}/llm-model-configs"

    assert client.get(users).status_code == 404
    assert client.get(groups).status_code == 404
    assert put(client, mine(alice, f"/{text}"), name="x").status_code == 404


def test_me_is_whoever_asks(client: Client, alice: User) -> None:
    made(user=alice)

    path = "/v3/access/users/me/llm-model-configs/own"

    assert client.get(path).json()["total"] == 1


def test_operators_write_for_users_and_groups(
    staff: Client, alice: User, group: Group
) -> None:
    one = post(staff, mine(alice), NEW)
    two = post(staff, ours(group), {**NEW, "allowed_groups": [group.pk]})

    assert (one.status_code, two.status_code) == (201, 201)
    assert two.json()["config"]["allowed_groups"] == [group.pk]
    assert put(staff, ours(group, f"/{two.json()['config_id']}"), name="x")


def test_an_auditor_reads_and_does_not_write(alice: User) -> None:
    auditor = User.objects.create_user("auditor", is_staff=True)
    auditor.user_permissions.add(Permission.objects.get(codename="view_llmconfig"))
    client = Client(headers=bearer(auditor))

    assert client.get(mine(alice)).status_code == 200
    assert post(client, mine(alice), NEW).status_code == 403


@pytest.mark.parametrize("field", ["allowed_groups", "redacts"])
def test_masking_and_groups_are_set_by_operators(
    client: Client, alice: User, field: str
) -> None:
    group = Group.objects.create(name="others")
    value: Any = [group.pk] if field == "allowed_groups" else False

    response = post(client, mine(alice), {**NEW, field: value})

    assert response.status_code == 422


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:6379", "http://169.254.169.254/", "http://2130706433"]
)
def test_an_address_inside_is_refused_when_it_is_saved(
    client: Client, alice: User, url: str
) -> None:
    response = post(client, mine(alice), {**NEW, "base_url": url})

    assert response.status_code == 400
    assert response.json()["code"] == "address_refused"


def test_a_config_that_an_operator_wrote_is_trusted_until_its_address_changes(
    client: Client, staff: Client, alice: User, settings: Settings
) -> None:
    settings.LLM_PRIVATE_HOSTS = ["10.0.0.5:11434"]
    body = {**NEW, "base_url": "http://10.0.0.5:11434/v1"}
    config_id = post(staff, mine(alice), body).json()["config_id"]
    config = LLMConfig.objects.get(pk=config_id)
    assert config.is_trusted

    put(client, mine(alice, f"/{config_id}"), name="Renamed")
    config.refresh_from_db()
    assert config.is_trusted

    elsewhere = "https://models.example/v1"
    put(client, mine(alice, f"/{config_id}"), base_url=elsewhere, api_key=KEY)
    config.refresh_from_db()
    assert not config.is_trusted


def test_thirty_configs_take_as_many_queries_as_one(
    client: Client, alice: User, group: Group
) -> None:
    made(user=alice)
    made(group=group)
    client.get(mine(alice))
    with CaptureQueriesContext(connection) as few:
        client.get(mine(alice))
    for number in range(30):
        made(f"c{number}", user=alice)
        made(f"g{number}", group=group).allowed_groups.add(group)

    with CaptureQueriesContext(connection) as many:
        client.get(mine(alice))

    assert len(many) == len(few)


# --- What is entered besides ----------------------------------------------------


@pytest.mark.parametrize(
    "rest",
    [
        r'"x": "a\u0000b"',
        r'"x": "\ud800"',
        '"x": 1e999',
        f'"x": 1{"0" * 400}',
        f'"x": "{"y" * 30_000}"',
        '"apiKey": "sk-entered-in-the-wrong-place"',
        '"headers": [{"Authorization": "Bearer sk-in-the-wrong-place"}]',
        r'"api_key": "sk-two\r\nX-Lines: 1"',
        '"api_key": "sk-ключ"',
        '"base_url": "https://models.example/v1?api_key=sk-in-the-wrong-place"',
        r'"base_url": "https://models.example\\@other.example/v1"',
        r'"base_url": "https://models.example/v1\r\nX: y"',
    ],
)
def test_what_cannot_be_kept_or_would_be_shown_is_refused(
    client: Client, alice: User, rest: str
) -> None:
    body = f"{json.dumps(NEW)[:-1]}, {rest}}}"

    answer = client.post(mine(alice), body, content_type="application/json")

    assert answer.status_code == 422
    assert "wrong-place" not in answer.content.decode()
    assert client.get(mine(alice, "/own")).json()["total"] == 0


def test_other_settings_do_not_grow_without_end(client: Client, alice: User) -> None:
    config = made(user=alice)
    path = mine(alice, f"/{config.pk}")

    first, second = (put(client, path, **{name: "y" * 15_000}) for name in "ab")

    assert (first.status_code, second.status_code) == (200, 422)


def test_a_body_that_is_nested_too_deeply_is_a_bad_request(
    client: Client, alice: User
) -> None:
    body = f'{{"x": {"[" * 3_000}{"]" * 3_000}}}'

    answer = client.post(mine(alice), body, content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


def test_a_key_does_not_follow_to_an_address_without_encryption(
    client: Client, alice: User
) -> None:
    config = made(user=alice, base_url="https://models.example:8443/v1")

    answer = put(
        client, mine(alice, f"/{config.pk}"), base_url="http://models.example:8443/v1"
    )

    assert answer.status_code == 422
    assert "another server" in answer.json()["message"]


def test_a_number_that_no_database_has_is_no_config(
    client: Client, alice: User
) -> None:
    answer = post(client, mine(alice, "/test"), {"config_id": "9" * 5_000})

    assert answer.status_code == 404


def test_two_that_make_a_default_at_once_leave_one(alice: User) -> None:
    owner = Owner(alice, user=alice)
    values = {"base_url": "https://models.example/v1", "model": "m", "is_default": True}

    def make(name: str) -> None:
        try:
            create_config(owner, {**values, "name": name})
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(make, "abcd"))

    assert LLMConfig.objects.filter(user=alice).count() == 4
    assert LLMConfig.objects.filter(user=alice, is_default=True).count() == 1
