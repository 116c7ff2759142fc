import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.consoles.redaction import MASK, redact

CONFIGS = Path(__file__).parent / "configs"
DIALECTS = sorted(path.name for path in CONFIGS.glob("*.cfg"))
UNCHANGED = (CONFIGS / "unchanged.txt").read_text().splitlines()
# Stands in every secret of the files, and nowhere else.
MARKER = "S3CR3T"


def config(name: str) -> str:
    return (CONFIGS / name).read_text()


def tool_result(output: str) -> str:
    command = {"command": "show running-config", "output": output, "truncated": False}
    device = {"device": "R1", "status": "ok", "commands": [command]}
    return json.dumps({"devices": [device]}, ensure_ascii=False)


# --- Dialects -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALECTS)
def test_no_secret_of_a_configuration_is_left(name: str) -> None:
    left = [line for line in redact(config(name)).split("\n") if MARKER in line]

    assert left == []


@pytest.mark.parametrize("name", DIALECTS)
def test_lines_without_a_secret_stay_as_they_are(name: str) -> None:
    before, after = config(name).split("\n"), redact(config(name)).split("\n")

    assert len(before) == len(after)
    changed = [
        (old, new)
        for old, new in zip(before, after, strict=True)
        if old != new and MARKER not in old and old.strip() not in BODIES
    ]
    assert changed == []


# Lines of keys and certificates, hidden as a whole.
BODIES = {
    "Proc-Type: 4,ENCRYPTED",
    *(line.strip() for line in config("ios.cfg").split("\n") if line[:3] == "  3"),
    "69666963 6174652D 34323739",
}


@pytest.mark.parametrize("line", UNCHANGED)
def test_an_ordinary_line_is_unchanged(line: str) -> None:
    assert redact(line) == line
    assert redact(f"R1#\n{line}\nR1#") == f"R1#\n{line}\nR1#"


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        ("enable secret 9 $9$nhEmQVczB7dqsO$X.HsL6x1", "enable secret 9 {}"),
        ("username bob password 7 094F471A1A0A", "username bob password 7 {}"),
        ("snmp-server community public RO 10", "snmp-server community {} RO 10"),
        (
            "crypto isakmp key cisco address 10.0.0.1",
            "crypto isakmp key {} address 10.0.0.1",
        ),
        ('  secret "$9$abcdefgh"; ## SECRET-DATA', '  secret "{}"; ## SECRET-DATA'),
        (
            "add name=bob password=abc profile=default",
            "add name=bob password={} profile=default",
        ),
        ("PrivateKey = abc=", "PrivateKey = {}"),
        ("ftp://backup:pw@10.0.0.40/x", "ftp://backup:{}@10.0.0.40/x"),
        ("root:$6$abcdefgh$ijk:19000:0:::", "root:{}:19000:0:::"),
        ("> Authorization: Bearer abc.def-1", "> Authorization: Bearer {}"),
        ("R1(config)#enable secret cisco", "R1(config)#enable secret {}"),
        ("Use `enable secret cisco` here", "Use `enable secret {}"),
        ("SNMP community string: abc", "SNMP community string: {}"),
        (" password 7 05080F\r", " password 7 {}\r"),
    ],
)
def test_a_line_stays_readable_and_its_kind_visible(line: str, redacted: str) -> None:
    assert redact(line) == redacted.format(MASK)


# --- Blocks -------------------------------------------------------------------------


def test_a_private_key_is_hidden_line_by_line() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nabc\n\ndef==\n-----END PRIVATE KEY-----\nend"

    assert redact(text) == (
        f"-----BEGIN PRIVATE KEY-----\n{MASK}\n\n{MASK}\n-----END PRIVATE KEY-----\nend"
    )


def test_a_key_that_is_cut_off_is_hidden_up_to_what_is_no_key() -> None:
    body = "MIIEpAIBAAKCAQEA7bq98Wb0u1Hq2gCwk1aV"

    start = redact(f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\nR1#show ip route")
    end = redact(f"R1#more key\n{body}\n{body}\n-----END RSA PRIVATE KEY-----")

    assert start.split("\n")[1:] == [MASK, MASK, "R1#show ip route"]
    assert end.split("\n")[:3] == ["R1#more key", MASK, MASK]


def test_a_key_in_one_line_is_hidden() -> None:
    text = "key: -----BEGIN PRIVATE KEY----- MIIEpAIB -----END PRIVATE KEY-----"

    assert "MIIE" not in redact(text)


# --- JSON ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALECTS)
def test_a_tool_result_is_redacted_as_its_text_and_stays_json(name: str) -> None:
    result = json.loads(redact(tool_result(config(name))))

    assert result == json.loads(tool_result(redact(config(name))))


@pytest.mark.parametrize("name", DIALECTS)
def test_a_result_within_a_result_is_redacted(name: str) -> None:
    text = tool_result(tool_result(config(name)))

    redacted = redact(text)

    assert MARKER not in redacted
    assert json.loads(json.loads(redacted)["devices"][0]["commands"][0]["output"])


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.77, 0.99])
def test_a_result_that_is_cut_off_is_redacted(name: str, share: float) -> None:
    whole = tool_result(config(name))
    cut = whole[: int(len(whole) * share)]

    assert MARKER not in redact(f"{cut}\n… cut: {len(whole)} characters in all.")


def test_a_field_that_is_named_as_a_secret_is_hidden() -> None:
    text = (
        '{"user": "bob", "password" : "a\\"b", "api_key":"k", "port_key": "x", "n":1}'
    )

    assert json.loads(redact(text)) == {
        "user": "bob",
        "password": MASK,
        "api_key": MASK,
        "port_key": "x",
        "n": 1,
    }


def test_json_without_a_secret_is_the_same_to_the_last_byte() -> None:
    text = '{ "a":\t"caf\\u00e9 \\/ \\ud83d",\n  "b" :[1.0e5, "show ip route"] }'

    assert redact(text) == text


def test_the_tail_of_a_json_text_is_redacted_line_by_line() -> None:
    tail = r" up\nusername bob password 7 0508S3CR3T\r\n!\nenable secret S3CR3T\n!"

    redacted = redact(f'[… 20 characters are left out here …]\n{tail}"}}]}}')

    assert MARKER not in redacted
    assert "username bob password 7" in redacted


def test_a_json_text_without_its_middle_is_redacted_in_its_tail() -> None:
    head, tail = '{"devices":[{"output":"! x', r' name=a password=\"S3CR3T\"\n!\n!"}]}'

    redacted = redact(f"{head}\n[… 20 characters are left out here …]\n{tail}")

    assert MARKER not in redacted
    assert " name=a password=" in redacted


def test_lines_of_json_and_of_a_log_are_redacted() -> None:
    text = '{"password": "S3CR3T"}\n{"psk": "S3CR3T"}\nlog {"secret": "S3CR3T", "n": 1}'

    redacted = redact(text)

    assert MARKER not in redacted
    assert redacted.endswith(', "n": 1}')


# --- Whatever the text --------------------------------------------------------------

FRAGMENTS = st.sampled_from(
    [
        *(line for name in DIALECTS for line in config(name).split("\n")),
        *UNCHANGED,
        '"',
        "'",
        "\\",
        "\\n",
        "\r",
        '{"a": "',
        '"}',
        "[[",
        "%^%#",
        "@%@%",
        "://a:",
        "@",
        "-----BEGIN KEY-----",
        "-----END KEY-----",
        "password",
        "=",
        ": ",
        ";",
        MASK,
        "key-string",
        "enable secret ",
        "cipher ",
        "\ud83d",
    ]
)
TEXTS = st.one_of(
    st.text(),
    st.builds(
        lambda joint, parts: joint.join(parts),
        st.sampled_from(["\n", "", " ", "\r\n", "\\n"]),
        st.lists(st.one_of(FRAGMENTS, st.text(max_size=5)), max_size=8),
    ),
)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_lines_are_kept_and_a_second_pass_changes_nothing(text: str) -> None:
    once = redact(text)

    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


@settings(max_examples=200, deadline=None)
@given(st.recursive(TEXTS, lambda inner: st.dictionaries(TEXTS, inner, max_size=3)))
def test_json_stays_json(value: object) -> None:
    for ascii_only in (True, False):
        text = json.dumps([value], ensure_ascii=ascii_only)

        redacted = redact(text)

        json.loads(redacted)
        assert redact(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "a",
        " ",
        "password ",
        "username a ",
        "%^%#",
        '"',
        "\\",
        "$1$",
        "key ",
        "secret:",
        ")",
        "authentication-mode md5 cipher ",
        "://a:",
        "{",
        "snmp-server user ",
        "0A0B0C0D ",
        "'",
        "\\n",
        "set ",
        "-----BEGIN KEY-----\n",
        " key x\n",
        " name=\n",
        "Preshared Key\n",
    ],
)
def test_time_is_linear_in_any_text(text: str) -> None:
    for start in ("", "password=", '{"a'):
        started = time.process_time()

        redact(start + text * (200_000 // len(text)))

        assert time.process_time() - started < 3
