"""A conversation as a file: nothing in it can break out of its place."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.export import as_markdown, file_name
from chat.models import ChatSession
from projects.models import Project
from tests.chat.api_more.conftest import CHAT, make_answered, queries, say
from tests.chat.support import make_session

pytestmark = pytest.mark.database

EVIL = "```\n# Forged\n```\n````\n<!-- \n~~~\n> quoted\n| a | b |\n"


def test_markdown_holds_question_call_output_and_answer(
    hers: Client, answered: ChatSession
) -> None:
    response = hers.get(f"{CHAT}/sessions/{answered.thread_id}/export?format=markdown")

    assert response.status_code == 200
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    name = f"Why-no-ping-{answered.thread_id[:8]}.md"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    text = response.content.decode()
    assert text.startswith("# Why no ping?\n\n- Project: Campus\n")
    parts = ["> Why can't PC1 reach PC2?", "> Let me look.", '"devices": []']
    parts += ["### Output of `run_commands`", "> The gateway is wrong."]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_json_holds_the_messages_of_the_history(
    hers: Client, answered: ChatSession
) -> None:
    path = f"{CHAT}/sessions/{answered.thread_id}"

    response = hers.get(f"{path}/export?format=json")

    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].endswith('.json"')
    messages = response.json()["messages"]
    assert messages == hers.get(f"{path}/history").json()["messages"]
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == {
        "devices": []
    }


def test_markdown_is_the_default_and_other_formats_are_refused(
    hers: Client, answered: ChatSession
) -> None:
    path = f"{CHAT}/sessions/{answered.thread_id}/export"

    assert hers.get(path)["Content-Type"].startswith("text/markdown")
    assert hers.get(f"{path}?format=pdf").status_code == 422


def test_the_session_of_a_closed_project_can_be_exported(
    hers: Client, answered: ChatSession, lab: Project
) -> None:
    lab.status = Project.Status.CLOSED
    lab.save()

    path = f"{CHAT}/sessions/{answered.thread_id}/export"
    assert hers.get(path).status_code == 200


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("", "conversation"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\r\nSet-Cookie: x', "a-b-Set-Cookie-x"),
        ("CON", "CON"),
        (".hidden", "hidden"),
        ("为什么？", "为什么"),
        ("x" * 255, "x" * 60),
    ],
)
def test_file_names_are_safe(
    hers: Client, alice: User, lab: Project, title: str, name: str
) -> None:
    session = make_session(alice, lab, title=title)

    assert file_name(session, "md") == f"{name}-{session.thread_id[:8]}.md"
    response = hers.get(f"{CHAT}/sessions/{session.thread_id}/export")
    assert response.status_code == 200
    assert "\n" not in response["Content-Disposition"]


def headings(text: str) -> list[str]:
    """Of the document itself, not of what is quoted in it."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        tokens[place + 1].content
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


texts = st.one_of(
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    st.text(alphabet="`~>#<!-- \n\r\t|*_-=abc[]()", max_size=60),
    st.just(EVIL),
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(title=texts, question=texts, output=texts, arguments=texts, answer=texts)
def test_no_text_forges_a_part_of_the_document(
    alice: User,
    lab: Project,
    title: str,
    question: str,
    output: str,
    arguments: str,
    answer: str,
) -> None:
    session = make_answered(alice, lab, title=title[:200])
    session.messages.filter(role="user").update(content=question)
    session.messages.filter(role="tool").update(content=output)
    session.runs.get().tool_calls.update(arguments=arguments)
    say(session.runs.get(), "Before: " + answer, role="assistant")
    say(session.runs.get(), "the end", role="assistant")

    text = as_markdown(session)
    found = headings(text)
    tokens = MarkdownIt("commonmark").parse(text)

    session.delete()
    assert found[1:] == [
        "Question 1",
        "Answer 1",
        "Call of `run_commands`",
        "Output of `run_commands`",
        "Answer 1",
        "Answer 1",
        "Answer 1",
    ]
    fences = [token for token in tokens if token.type == "fence" and token.level == 0]
    assert len(fences) == 2


def test_fifty_messages_take_as_many_queries_as_one(
    hers: Client, answered: ChatSession
) -> None:
    path = f"{CHAT}/sessions/{answered.thread_id}/export"
    few = queries(lambda: hers.get(path))
    for _ in range(50):
        say(answered.runs.get(), "More.", role="assistant")

    assert queries(lambda: hers.get(path)) == few
