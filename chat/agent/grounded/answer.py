"""The node that writes a supported answer, every statement with its citation."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime

from chat.agent.citing import marked
from chat.agent.grounded import evidence, phrases
from chat.agent.grounded.extract import extract
from chat.agent.grounded.nodes import asked, declined, resolved_of
from chat.agent.grounded.sentences import sentences
from chat.agent.grounded.state import GroundedContext, GroundedState, Outcome
from chat.agent.grounded.verdict import label
from chat.agent.grounded.writing import Writing, again, answer_prompt
from chat.agent.state import current_model
from chat.agent.translate import Answer
from llmconfig.errors import as_model_error

# An answer in which fewer sentences are cited is never more than of low confidence.
_CITED_SHARE = 0.5
_PIECE = 24
_CUT = ("length", "max_tokens", "content_filter")


async def answer(
    state: GroundedState, runtime: Runtime[GroundedContext]
) -> dict[str, Any]:
    """Streams it; a model that will not cite has its answer declined, unseen."""
    context, verdict = runtime.context, state["verdict"]
    journal = context.grounded
    journal.stage("answering")
    found = evidence.collect(state["trace"])
    supporting = [one for one in found.citations if one["n"] in verdict["numbers"]]
    message_id = await journal.answer_started()
    journal.citations(message_id, supporting)
    if verdict["reason"] == "deed":
        text = _acknowledged(state)
        outcome = Outcome(text, True, "high", (), _tools(state))
        journal.text(message_id, text)
    elif context.is_offline:
        question = _question(state)
        text = extract(question, supporting)
        if marked(text):
            await _say(context, message_id, text)
            outcome = _outcome(state, text, supporting)
        else:
            # Nothing in the passages may be quoted.
            outcome = declined(state, "uncited")
    else:
        outcome = await _by_model(state, context, message_id, supporting, found.facts)
    await journal.answer_finished(message_id, outcome)
    return {}


async def _say(context: GroundedContext, message_id: str, text: str) -> None:
    """In pieces, so that a long list can be read and stopped while it comes."""
    said = ""
    try:
        for start in range(0, len(text), _PIECE):
            said += text[start : start + _PIECE]
            context.grounded.text(message_id, text[start : start + _PIECE])
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        failed = context.grounded.answer_failed(message_id, said, "stopped")
        await asyncio.shield(failed)
        raise


async def _by_model(
    state: GroundedState,
    context: GroundedContext,
    message_id: str,
    supporting: Sequence[dict[str, Any]],
    facts: Sequence[str],
) -> Outcome:
    question, history = asked(state["messages"])
    messages = answer_prompt(
        _question(state),
        history,
        [_masked(one, context) for one in supporting],
        [context.masked(fact) for fact in facts],
        instructions=await context.system_prompt(),
        now=context.now.strftime("%A, %d %B %Y, %H:%M"),
        fit=context.fit,
    )
    writing = await _written(context, message_id, messages, supporting)
    if not writing.is_cited:
        # Nothing of it was shown. Asked once more; then there is no answer.
        messages = again(messages, supporting[0]["n"])
        writing = await _written(context, message_id, messages, supporting)
    reason = writing.assembler.answer.finish_reason
    if not writing.is_cited:
        outcome = declined(state, "uncited")
        # Cut or filtered by the provider: the run says so, beside the decline.
        return replace(outcome, finish_reason=reason) if reason in _CUT else outcome
    return _outcome(state, writing.text, supporting, reason)


async def _written(
    context: GroundedContext,
    message_id: str,
    messages: Sequence[AnyMessage],
    supporting: Sequence[dict[str, Any]],
) -> Writing:
    """One request to the model; its tokens are counted however it ends."""
    journal, model = context.grounded, current_model.get()
    assert model is not None
    entry = await journal.call_started("chat")
    writing = Writing([one["n"] for one in supporting])
    said: Answer = writing.assembler.answer
    try:
        async for piece in writing.pieces(model, messages, journal.status):
            journal.text(message_id, piece)
    except asyncio.CancelledError:
        await asyncio.shield(_failed(context, message_id, entry, writing, "stopped"))
        raise
    except Exception as error:
        known = as_model_error(error)
        await _failed(context, message_id, entry, writing, known.code)
        raise known from error
    await journal.call_ended(entry, said, "" if said.finish_reason else "uncited")
    return writing


async def _failed(
    context: GroundedContext, message_id: str, entry: Any, writing: Writing, code: str
) -> None:
    await context.grounded.call_ended(entry, writing.assembler.answer, code)
    await context.grounded.answer_failed(message_id, writing.text, code)


def _outcome(
    state: GroundedState,
    text: str,
    supporting: Sequence[dict[str, Any]],
    finish_reason: str = "stop",
) -> Outcome:
    numbers = set(marked(text))
    cited = [one for one in supporting if one["n"] in numbers]
    score = state["verdict"]["score"]
    said = sentences(text)
    share = sum(bool(marked(one)) for one in said) / max(1, len(said))
    confidence = label(score, cited) if share >= _CITED_SHARE else "low"
    tools = evidence.tools_behind(state["trace"], cited)
    return Outcome(text, True, confidence, cited, tools, finish_reason=finish_reason)


def _question(state: GroundedState) -> str:
    question, history = asked(state["messages"])
    return resolved_of(question, history).text


def _masked(citation: dict[str, Any], context: GroundedContext) -> dict[str, Any]:
    return {**citation, "text": context.masked(str(citation["text"]))}


def _acknowledged(state: GroundedState) -> str:
    question, _ = asked(state["messages"])
    return " ".join(
        dict.fromkeys(phrases.say(one["tool"], question) for one in state["trace"])
    )


def _tools(state: GroundedState) -> list[str]:
    return list(dict.fromkeys(one["tool"] for one in state["trace"]))
