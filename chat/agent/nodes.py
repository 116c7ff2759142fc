"""The graph's nodes and routes. All they need is in Context and two ContextVars."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Send

from chat.agent.consent import check_allowed, consider
from chat.agent.state import (
    Context,
    State,
    ToolResult,
    current_kit,
    current_model,
)
from chat.agent.tool_results import result_of
from chat.agent.tools.base import Effect, Tool, ToolFailed, as_json
from chat.agent.translate import (
    Assembler,
    CallPiece,
    CallRequest,
    ReasoningPiece,
    TextPiece,
)
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.secret_values import mask
from llmconfig.errors import ModelStreamCut, as_model_error
from llmconfig.streaming import ask

logger = logging.getLogger(__name__)


class ToolInput(TypedDict):
    """What one Send hands to one tool node."""

    call: dict[str, str]
    after: list[str]
    refusal: str


class StepLimitReached(UserFacingError):
    code = "step_limit"


async def call_model(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """One request to the model, streamed to the journal."""
    context, journal = runtime.context, runtime.context.journal
    model = current_model.get()
    assert model is not None
    if state["steps"] >= context.step_limit:
        raise StepLimitReached(
            f"The copilot stopped after {context.step_limit} steps without a final "
            "answer. Ask again more narrowly, or ask it to go on."
        )
    is_last = state["steps"] == context.step_limit - 1
    tools = [] if is_last else [tool.schema() for tool in context.tools.values()]
    # Side by side: the one waits for the lab's server, the other for the database.
    text, message_id = await asyncio.gather(
        context.system_prompt(), journal.model_started()
    )
    prompt: list[AnyMessage] = [SystemMessage(text)]
    assembler = Assembler(taken=call_ids(state["messages"]))
    try:
        messages = prompt + state["messages"]
        async for delta in ask(model, messages, tools, on_status=journal.status):
            for piece in assembler.feed(delta):
                match piece:
                    case TextPiece(text):
                        journal.text(message_id, text)
                    case ReasoningPiece(text) if context.shows_reasoning:
                        journal.reasoning(message_id, text)
                    case CallPiece(call):
                        journal.call_written(message_id, call, is_complete=False)
        answer = assembler.answer
        # A stream that ends without a reason was cut: no tool of it may run.
        if not answer.finish_reason:
            raise ModelStreamCut
        answer.settle()
    except asyncio.CancelledError:
        await asyncio.shield(
            journal.model_failed(message_id, assembler.answer, "stopped")
        )
        raise
    except Exception as error:
        known = as_model_error(error)
        await journal.model_failed(message_id, assembler.answer, known.code)
        raise known from error
    for call in answer.calls:
        journal.call_written(message_id, call, is_complete=call.parsed() is not None)
    await journal.model_finished(message_id, answer)
    return {
        "messages": [answer.as_message(message_id)],
        "steps": state["steps"] + 1,
    }


async def gate(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Nothing of a step runs, reads neither, before a person has decided on all."""
    context = runtime.context
    requests = [_request(call, context) for call in open_calls(state["messages"])]
    step = await consider(requests, state["messages"], context)
    return {"is_waiting": step.is_waiting, "refusals": step.refusals}


async def run_tool(state: ToolInput, runtime: Runtime[Context]) -> dict[str, Any]:
    """One call: recorded before and after; an error is a result, not a crash."""
    context = runtime.context
    asked = state["call"]
    call = CallRequest(asked["id"], asked["name"], asked["arguments"])
    for earlier in state["after"]:
        await _turn(context, earlier).wait()
    try:
        result = await context.journal.tool_started(call)
        if result is None:
            result = await execute_call(call, context, state["refusal"])
            await context.journal.tool_finished(call, result)
    finally:
        _turn(context, call.id).set()
    message = ToolMessage(
        content=context.masked(result.output),
        tool_call_id=call.id,
        name=call.name,
        status="error" if result.is_error else "success",
    )
    return {"messages": [message]}


async def execute_call(
    call: CallRequest, context: Context, refusal: str = ""
) -> ToolResult:
    """What it comes to; an error is a result."""
    tool = context.tools.get(call.name)
    try:
        if refusal:
            raise ToolFailed(refusal)
        if tool is None:
            raise ToolFailed(
                f"There is no tool “{call.name}”. Tools: {', '.join(context.tools)}."
            )
        arguments = call.parsed()
        if arguments is not None:
            check_allowed(tool, arguments, context)
        if arguments is None:
            raise ToolFailed(
                "The arguments are not a JSON object, so nothing was run. "
                "Write the call again with valid JSON."
            )
        async with asyncio.timeout(context.tool_seconds):
            value = await tool.call(arguments, current_kit.get())
    except UserFacingError as error:
        return ToolResult(as_json({"error": mask(str(error))}), is_error=True)
    except TimeoutError:
        text = f"No result within {context.tool_seconds:.0f} s; it was cut off."
        return ToolResult(as_json({"error": text}), is_error=True)
    except Exception:
        logger.exception("Tool %s failed", call.name)
        text = "The tool failed unexpectedly. The operator finds it in the log."
        return ToolResult(as_json({"error": text}), is_error=True)
    return result_of(tool, value, context.registry, context.output_limit)


def enter(state: State) -> Literal["model", "gate", "end"]:
    """After a takeover the run goes on where its rows end: maybe with its answer."""
    messages = state["messages"]
    if open_calls(messages):
        return "gate"
    return "end" if messages and isinstance(messages[-1], AIMessage) else "model"


def after_model(state: State) -> Literal["gate", "end"]:
    return "gate" if open_calls(state["messages"]) else "end"


def after_gate(state: State, runtime: Runtime[Context]) -> list[Send] | str:
    """One Send a call, so that each is recorded and recovered for itself."""
    if state.get("is_waiting"):
        return END
    refusals = state.get("refusals", {})
    sends: list[Send] = []
    changes: list[str] = []
    for call in open_calls(state["messages"]):
        request = _request(call, runtime.context)
        changes_lab = is_change(request, runtime.context.tools)
        payload: ToolInput = {
            "call": {
                "id": request.id,
                "name": request.name,
                "arguments": request.arguments,
            },
            "after": list(changes) if changes_lab else [],
            "refusal": refusals.get(request.id, ""),
        }
        if changes_lab:
            changes.append(request.id)
        sends.append(Send("tool", payload))
    return sends or "model"


def open_calls(messages: list[AnyMessage]) -> list[dict[str, Any]]:
    """Calls of the newest model message that have no result yet."""
    answered = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [
                dict(call) for call in message.tool_calls if call["id"] not in answered
            ]
        else:
            return []
    return []


def call_ids(messages: list[AnyMessage]) -> list[str]:
    """Of all calls so far; no later call may have one of them."""
    return [
        call["id"] or ""
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]


def _request(call: dict[str, Any], context: Context) -> CallRequest:
    """With the raw arguments: the state holds only what parsed."""
    raw = context.journal.raw_arguments(call["id"])
    return CallRequest(id=call["id"], name=call["name"], arguments=raw)


def is_change(call: CallRequest, tools: Mapping[str, Tool[Any]]) -> bool:
    """Whether running the call changes the lab; unknown tools run nothing."""
    tool, arguments = tools.get(call.name), call.parsed()
    return (
        tool is not None
        and arguments is not None
        and tool.effect(arguments) == Effect.CHANGE
    )


def _turn(context: Context, call_id: str) -> asyncio.Event:
    event: asyncio.Event = context.turns.setdefault(call_id, asyncio.Event())
    return event
