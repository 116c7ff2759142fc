from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from accounts.language import choose_language, language_of

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/v3/me/preferences"


def choose(client: Client, language: Any) -> Any:
    body = {"language": language}
    return client.patch(PATH, body, content_type="application/json")


def test_a_choice_reaches_the_page_at_once_and_the_row(alice: User) -> None:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(alice)

    answer = choose(client, "de")

    assert answer.status_code == 200
    assert answer.json()["language"] == "de"
    assert {"code": "zh-hans", "name": "简体中文"} in answer.json()["languages"]
    assert '<html lang="de" dir="ltr">' in client.get(reverse("chat:page")).text
    assert language_of(alice) == "de"


def test_another_browser_gets_the_language_with_the_login(alice: User) -> None:
    first = Client()
    first.force_login(alice)
    choose(first, "zh-hans")
    alice.set_password("a-long-password")
    alice.save()
    other = Client(headers={"Accept-Language": "en"})

    other.post("/login/", {"username": "alice", "password": "a-long-password"})

    assert '<html lang="zh-hans"' in other.get(reverse("chat:page")).text


def test_without_a_choice_the_browser_decides(alice: User) -> None:
    client = Client(headers={"Accept-Language": "de-CH,de;q=0.9"})
    client.force_login(alice)
    choose(client, "zh-hans")
    choose(client, "")

    assert '<html lang="de"' in client.get(reverse("chat:page")).text
    assert language_of(alice) == ""


@pytest.mark.parametrize("language", ["xx", "../de", None, ["de"], "d" * 100])
def test_an_unknown_language_is_refused(alice: User, language: Any) -> None:
    client = Client()
    client.force_login(alice)

    assert choose(client, language).status_code == 422
    assert language_of(alice) == ""


def test_nobody_has_no_preferences(transactional_db: None) -> None:
    assert Client().get(PATH).status_code == 401
    assert choose(Client(), "de").status_code == 401


def test_one_persons_choice_is_not_anothers(alice: User, bob: User) -> None:
    client = Client()
    client.force_login(alice)
    choose(client, "de")
    client.force_login(bob)

    assert client.get(PATH).json()["language"] == ""


def test_the_texts_of_a_language_are_a_script(transactional_db: None) -> None:
    answer = Client().get("/texts/de.js")

    assert answer["Content-Type"].startswith("text/javascript")
    assert "max-age" in answer["Cache-Control"]
    assert Client().get("/texts/xx.js").status_code == 404


def test_a_language_chosen_at_the_login_is_the_persons(alice: User) -> None:
    alice.set_password("a-long-password")
    alice.save()
    choose_language(alice, "zh-hans")
    client = Client(headers={"Accept-Language": "en"})

    shown = client.get("/login/?language=de&next=/settings/")

    assert '<html lang="de"' in shown.text
    assert "?language=en&amp;next=%2Fsettings%2F" in shown.text
    assert '<html lang="de"' in client.get("/login/").text
    name = {"username": "alice", "password": "a-long-password"}
    assert client.post("/login/?language=de", name).status_code == 302
    assert language_of(alice) == "de"
    assert '<html lang="de"' in client.get(reverse("chat:page")).text


@pytest.mark.parametrize("language", ["xx", "", "de/../..", "<script>"])
def test_the_login_takes_no_language_that_is_not_there(
    transactional_db: None, language: str
) -> None:
    answer = Client().get("/login/", {"language": language})

    assert '<html lang="en"' in answer.text
    assert settings.LANGUAGE_COOKIE_NAME not in answer.cookies


def test_an_error_comes_in_my_language(alice: User) -> None:
    client = Client(headers={"Accept-Language": "zh-hans"})
    client.force_login(alice)

    answer = client.get("/v3/projects/nothing/topology").json()

    assert answer["code"] == "not_found"
    assert answer["message"] == "没有这个项目。"
