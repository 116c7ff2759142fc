"""A verdict on an answer: one, replaceable, and of nobody else's answers."""

import pytest
from django.test import Client

from chat.models import ChatSession, Feedback, Message
from tests.chat.api_more.conftest import CHAT

pytestmark = pytest.mark.database


def path_of(message: Message) -> str:
    return f"{CHAT}/messages/{message.pk}/feedback"


def answer_of(session: ChatSession) -> Message:
    return session.messages.filter(role="assistant").last()


def post(client: Client, message: Message, **body: object):
    return client.post(path_of(message), body, content_type="application/json")


def test_a_verdict_is_stored_and_shown_in_the_history(
    hers: Client, answered: ChatSession
) -> None:
    message = answer_of(answered)

    response = post(hers, message, value="down", comment="Wrong device.")

    assert response.status_code == 200
    said = response.json()
    assert said["message_id"] == str(message.pk)
    assert (said["value"], said["comment"]) == ("down", "Wrong device.")
    history = hers.get(f"{CHAT}/sessions/{answered.thread_id}/history").json()
    last = history["messages"][-1]["metadata"]
    assert last["feedback"] == {"value": "down", "comment": "Wrong device."}


def test_a_second_verdict_replaces_the_first(
    hers: Client, answered: ChatSession
) -> None:
    message = answer_of(answered)
    post(hers, message, value="down", comment="No.")

    first = post(hers, message, value="up").json()
    second = post(hers, message, value="up").json()

    assert Feedback.objects.count() == 1
    assert (first["value"], first["comment"]) == ("up", "")
    assert first["created_at"] == second["created_at"]


def test_a_verdict_can_be_taken_back_twice(hers: Client, answered: ChatSession) -> None:
    message = answer_of(answered)
    post(hers, message, value="up")

    assert hers.delete(path_of(message)).status_code == 204
    assert hers.delete(path_of(message)).status_code == 204
    assert not Feedback.objects.exists()


@pytest.mark.parametrize(
    "body", [{}, {"value": "left"}, {"value": "up", "comment": "x" * 2001}, []]
)
def test_other_verdicts_are_refused(
    hers: Client, answered: ChatSession, body: object
) -> None:
    response = hers.post(
        path_of(answer_of(answered)), body, content_type="application/json"
    )

    assert response.status_code == 422
    assert response.json()["code"] == "validation_error"


def test_questions_and_outputs_are_not_rated(
    hers: Client, answered: ChatSession
) -> None:
    for message in answered.messages.exclude(role="assistant"):
        response = post(hers, message, value="up")
        assert (response.status_code, response.json()["code"]) == (409, "not_an_answer")


def test_messages_of_others_do_not_exist(his: Client, answered: ChatSession) -> None:
    message = answer_of(answered)

    assert post(his, message, value="up").status_code == 404
    assert his.delete(path_of(message)).status_code == 404


@pytest.mark.parametrize("key", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_message_that_does_not_exist_is_404(hers: Client, key: str) -> None:
    response = hers.post(
        f"{CHAT}/messages/{key}/feedback",
        {"value": "up"},
        content_type="application/json",
    )

    assert response.status_code == 404
