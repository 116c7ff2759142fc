import logging
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_site.lib import secret_values
from copilot_site.lib.log_filter import SecretFilter
from copilot_site.lib.secret_files import read_or_make
from copilot_site.lib.secret_values import MASK, mask, remember

PASSWORD = "correct-horse-battery"


@pytest.fixture(autouse=True, scope="module")
def _forget() -> Iterator[None]:
    """What is made a secret here must not be masked in other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_values, "_known", OrderedDict())
        patch.setattr(secret_values, "_pattern", None)
        yield


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    remember(PASSWORD)

    assert mask(f"user:{PASSWORD}@host {PASSWORD}") == f"user:{MASK}@host {MASK}"


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    remember("prefix-of-a-key")
    remember("prefix-of-a-key-and-more")

    assert mask("prefix-of-a-key-and-more") == MASK


@pytest.mark.timeout(20)
def test_a_line_that_is_logged_while_another_is_masked_holds_up_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the garbage collector does, when it closes a connection in between."""
    remember("a-secret-of-this-test")
    escape, logged = secret_values.re.escape, list[str]()

    def interrupted(value: str) -> str:
        if not logged:
            logged.append("")
            logged[0] = mask("closed a-secret-of-this-test")
        return escape(value)

    monkeypatch.setattr(secret_values.re, "escape", interrupted)

    assert mask("said a-secret-of-this-test") == f"said {MASK}"
    assert logged == [f"closed {MASK}"]


def test_a_secret_with_special_signs_is_hidden() -> None:
    remember("a.*(b)[c]+$")

    assert mask("x a.*(b)[c]+$ y") == f"x {MASK} y"
    assert mask("abbbbc") == "abbbbc"


def test_short_words_are_not_taken_for_secrets() -> None:
    remember("admin")

    assert mask("the admin page") == "the admin page"


@pytest.mark.parametrize(
    "text",
    [
        "sk-abcdefgh12345678",
        "sk-proj-abc_def-123456",
        "Authorization: Bearer abcdefgh.12345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdef_123",
    ],
)
def test_what_looks_like_a_key_is_hidden_unseen(text: str) -> None:
    hidden = mask(f"error: {text}!")

    assert MASK in hidden
    assert text not in hidden
    assert hidden.startswith("error: ")


@pytest.mark.parametrize(
    "text", ["", "task-based", "risk-free", "a bearer of news", "PC1 10.0.0.1/24 sk-1"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text) == text


@given(st.text(min_size=6, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_text_shows_a_known_secret(secret: str, before: str, after: str) -> None:
    remember(secret)

    hidden = mask(before + secret + after)

    assert secret not in hidden or secret in MASK * 10


def test_the_memory_of_secrets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_values, "_LIMIT", 3)
    monkeypatch.setattr(secret_values, "_known", OrderedDict())
    for number in range(10):
        remember(f"secret-number-{number}")

    # The newest are kept: they are the ones in use.
    assert list(secret_values._known) == [f"secret-number-{n}" for n in (7, 8, 9)]


def logged(record: logging.LogRecord) -> str:
    assert SecretFilter().filter(record)
    return logging.Formatter().format(record)


def record(message: str, *args: object, exc_info: object = None) -> logging.LogRecord:
    return logging.LogRecord("n", 40, "p", 1, message, args, exc_info)  # type: ignore[arg-type]


def test_a_log_line_holds_no_secret_in_text_or_arguments() -> None:
    remember(PASSWORD)

    assert PASSWORD not in logged(record(f"as {PASSWORD}"))
    assert logged(record("user %s", PASSWORD)) == f"user {MASK}"
    assert PASSWORD not in logged(record("%r", {"password": PASSWORD}))
    assert logged(record("100%")) == "100%"


def test_a_traceback_holds_no_secret() -> None:
    remember(PASSWORD)
    try:
        raise ValueError(f"wrong password {PASSWORD}")
    except ValueError as error:
        cause = error
    try:
        raise RuntimeError("later") from cause
    except RuntimeError as error:
        info = (type(error), error, error.__traceback__)

    text = logged(record("failed", exc_info=info))

    assert PASSWORD not in text
    assert "RuntimeError: later" in text
    assert f"wrong password {MASK}" in text


def test_a_key_file_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"

    key = read_or_make(path)

    assert len(key) >= 48
    assert read_or_make(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["key"]


def test_processes_that_start_at_once_get_one_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    barrier = threading.Barrier(4)
    # Threads stand for processes: each needs a number of its own.
    monkeypatch.setattr(os, "getpid", threading.get_ident)

    def make(_: int) -> str:
        barrier.wait(10)
        return read_or_make(path)

    with ThreadPoolExecutor(4) as pool:
        keys = set(pool.map(make, range(4)))

    assert keys == {path.read_text()}
