"""The grounded graph's nodes and routes. All they need is lent to them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolMessage,
)
from langgraph.runtime import Runtime

from chat.agent.grounded import evidence, gate, phrases, planner, rules
from chat.agent.grounded.followups import Resolved, resolve
from chat.agent.grounded.planner import Turn
from chat.agent.grounded.state import (
    GroundedContext,
    GroundedState,
    Operation,
    Outcome,
    current_planner,
)
from chat.agent.grounded.steps import Step
from chat.agent.grounded.verdict import Verdict
from chat.agent.nodes import execute_call, open_calls
from chat.agent.state import current_kit, current_model
from chat.agent.tools.kit import OwnKind
from chat.agent.translate import Assembler, CallRequest, assistant_message
from llmconfig.errors import ModelStreamCut, as_model_error
from llmconfig.streaming import ask

Ask = Callable[[Sequence[AnyMessage]], Awaitable[str]]


async def plan(
    state: GroundedState, runtime: Runtime[GroundedContext]
) -> dict[str, Any]:
    """The steps, stored before any of them runs."""
    context = runtime.context
    context.grounded.stage("planning")
    question, history = asked(state["messages"])
    by_model = context.planner == "llm" and not context.is_offline
    made, _ = await planner.make_plan(
        question,
        history,
        context.tools,
        now=context.now,
        ask=asking(context, "planning") if by_model else None,
        own_kinds=await _own_kinds(),
    )
    calls = await context.grounded.plan_stored(made)
    if not calls:
        return {}
    context.grounded.stage("searching")
    return {"messages": [assistant_message("plan", "", "", calls)]}


async def _own_kinds() -> Sequence[OwnKind]:
    directory = current_kit.get().directory
    return await directory.own_kinds() if directory is not None else ()


async def step(
    state: GroundedState, runtime: Runtime[GroundedContext]
) -> dict[str, Any]:
    """The next one of the plan, alone; a failure is its result and no more."""
    context, journal = runtime.context, runtime.context.grounded
    call = next_call(state["messages"], context)
    index = len(state["trace"])
    result = await journal.tool_started(call)
    if result is None:
        result = await execute_call(call, context)
        await journal.step_finished(index, call, result)
    finished = evidence.entry(
        index,
        call.name,
        call.parsed() or {},
        result.output,
        is_error=result.is_error,
        evidence=result.evidence,
    )
    message = ToolMessage(result.output, tool_call_id=call.id, name=call.name)
    return {"messages": [message], "trace": [finished]}


async def judge(
    state: GroundedState, runtime: Runtime[GroundedContext]
) -> dict[str, Any]:
    """The gate: whether there will be an answer is decided before its first word."""
    context, trace = runtime.context, state["trace"]
    context.grounded.stage("judging")
    question, history = asked(state["messages"])
    resolved = resolved_of(question, history)
    if trace and all(rules.is_deed(Step(one["tool"])) for one in trace):
        done = all(one["error"] is None for one in trace)
        return {"verdict": Verdict(done, score=1.0, reason="deed").as_json()}
    found = evidence.collect(trace)
    fresh = found.citations
    if resolved.asks_for_more:
        fresh = tuple(one for one in fresh if one["id"] not in context.cited_before)
    if found.citations and not fresh:
        return {"verdict": Verdict(False, reason="nothing_new").as_json()}
    by_model = None if context.is_offline else asking(context, "gate")
    verdict = await gate.judge(
        resolved.text, fresh, similarity=found.similarity, ask=by_model
    )
    return {"verdict": verdict.as_json()}


async def decline(
    state: GroundedState, runtime: Runtime[GroundedContext]
) -> dict[str, Any]:
    """No answer, and no error: what was looked for, and what comes nearest."""
    message_id = await runtime.context.grounded.answer_started()
    await runtime.context.grounded.answer_finished(
        message_id, declined(state, state["verdict"]["reason"])
    )
    return {}


def declined(state: GroundedState, reason: str) -> Outcome:
    question, history = asked(state["messages"])
    trace = state["trace"]
    nearest = evidence.collect(trace).citations[:3]
    steps = [{"tool": one["tool"], "arguments": one["arguments"]} for one in trace]
    text = phrases.refusal(resolved_of(question, history).text, reason, steps, nearest)
    return Outcome(
        text,
        is_supported=False,
        declined={
            "reason": reason,
            "looked_for": steps,
            "nearest": [dict(citation) for citation in nearest],
        },
    )


def enter(state: GroundedState) -> Literal["plan", "step", "judge", "end"]:
    """After a takeover the run goes on where its rows end: maybe with its answer."""
    messages = state["messages"]
    if open_calls(messages):
        return "step"
    match messages[-1] if messages else None:
        case ToolMessage():
            return "judge"
        case AIMessage():
            return "end"
    return "plan"


def after_step(state: GroundedState) -> Literal["step", "judge"]:
    return "step" if open_calls(state["messages"]) else "judge"


def after_judge(state: GroundedState) -> Literal["answer", "decline"]:
    return "answer" if state["verdict"]["supported"] else "decline"


def asked(messages: Sequence[AnyMessage]) -> tuple[str, list[Turn]]:
    """This round's question, and what was said in the rounds before."""
    at = max(
        index
        for index, message in enumerate(messages)
        if isinstance(message, HumanMessage)
    )
    history = [
        Turn("user" if isinstance(message, HumanMessage) else "assistant", text)
        for message in messages[:at]
        if isinstance(message, HumanMessage | AIMessage)
        and (text := message.text.strip())
    ]
    return messages[at].text, history


def resolved_of(question: str, history: Sequence[Turn]) -> Resolved:
    return resolve(question, [turn.text for turn in history if turn.role == "user"])


def next_call(messages: Sequence[AnyMessage], context: GroundedContext) -> CallRequest:
    """The first of the plan that has no result."""
    call = open_calls(list(messages))[0]
    raw = context.journal.raw_arguments(call["id"])
    return CallRequest(call["id"], call["name"], raw)


def asking(context: GroundedContext, operation: Operation) -> Ask:
    """Puts a prompt to the model for it: counted, bounded in time, its text whole."""

    async def whole(messages: Sequence[AnyMessage]) -> str:
        model = current_planner.get() or current_model.get()
        journal = context.grounded
        assert model is not None
        entry = await journal.call_started(operation)
        assembler = Assembler()
        try:
            async with asyncio.timeout(context.planning_seconds):
                window = context.fit(messages, [], 1.0)
                async for delta in ask(model, window.messages):
                    for _ in assembler.feed(delta):
                        pass
            if not assembler.answer.finish_reason:
                raise ModelStreamCut
        except asyncio.CancelledError:
            ended = journal.call_ended(entry, assembler.answer, "stopped")
            await asyncio.shield(ended)
            raise
        except TimeoutError:
            await journal.call_ended(entry, assembler.answer, "timeout")
            raise
        except Exception as error:
            known = as_model_error(error)
            await journal.call_ended(entry, assembler.answer, known.code)
            raise known from error
        await journal.call_ended(entry, assembler.answer, "")
        return assembler.answer.text

    return whole
