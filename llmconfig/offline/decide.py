"""Chooses the next step from the messages alone, so it can resume anywhere."""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage, HumanMessage

from llmconfig.offline import change, create, fix, reach, show
from llmconfig.offline.attachments import is_about_files
from llmconfig.offline.data import answer_data, is_for_data
from llmconfig.offline.documents import answer_documents
from llmconfig.offline.evidence import collect
from llmconfig.offline.question import read_question
from llmconfig.offline.steps import Step, Turn
from llmconfig.offline.words import Intent


def _help(turn: Turn) -> Step:
    return turn.plain("", turn.say("help"))


def _greet(turn: Turn) -> Step:
    return turn.plain("", turn.say("hello"), turn.say("help"))


def _unknown(turn: Turn) -> Step:
    return turn.plain("", turn.say("unknown"), turn.say("help"))


_ANSWERS: dict[Intent, Callable[[Turn], Step]] = {
    Intent.REACH: reach.answer_reach,
    Intent.CHECK: reach.answer_reach,
    Intent.FIX: fix.answer_fix,
    Intent.TOPOLOGY: show.answer_topology,
    Intent.SHOW: show.answer_show,
    Intent.PING: show.answer_ping,
    Intent.RUN: show.answer_run,
    Intent.START: change.answer_start,
    Intent.STOP: change.answer_stop,
    Intent.ADDRESS: change.answer_address,
    Intent.CREATE: create.answer_create,
    Intent.LINK: create.answer_link,
    Intent.HELP: _help,
    Intent.GREETING: _greet,
    Intent.UNKNOWN: _unknown,
}


def decide(messages: Sequence[BaseMessage], tools: frozenset[str]) -> Step:
    last = max(
        (i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1
    )
    question = read_question(messages[: last + 1])
    turn = Turn(question, collect(messages[last + 1 :]), tools)
    if turn.evidence.rejected is not None:
        return change.answer_rejected(turn, turn.evidence.rejected)
    if "read_document" in tools and is_about_files(
        question.text, question.files, question.intent
    ):
        return answer_documents(turn)
    is_talk = question.intent in {Intent.HELP, Intent.GREETING}
    if not is_talk and is_for_data(tools, is_unknown=question.intent is Intent.UNKNOWN):
        return answer_data(turn)
    return _ANSWERS[question.intent](turn)
