"""A question → at most six steps: by keywords, or by a model with these behind it."""

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from chat.agent.grounded import rules
from chat.agent.grounded.fence import RULE, fenced, new_fence
from chat.agent.grounded.followups import Resolved, resolve
from chat.agent.grounded.own_kinds import TOOL, match_own
from chat.agent.grounded.steps import (
    LIMIT,
    Plan,
    Step,
    StepInvalid,
    Tools,
    bounded,
    checked,
    plannable,
)
from chat.agent.grounded.strict_json import NotJson, parse_object
from chat.agent.tools.kit import OwnKind
from copilot_site.lib.errors import UserFacingError

logger = logging.getLogger(__name__)

Ask = Callable[[Sequence[AnyMessage]], Awaitable[str]]

_PROMPT = """\
[task:plan] You plan look-ups for a question; you do not answer it. It is {now}.
Answer with one JSON object and nothing else:
{{"steps": [{{"tool": "<name>", "arguments": {{...}}}}]}}
At most {limit} steps, in the order in which they should run, none twice. One question \
may need several: one look-up for each thing it asks. Put what the conversation leaves \
unsaid into the arguments.
Use only these tools, with arguments that fit their schemas:
{tools}
{rule}"""
_TURNS = 6
_TURN_LENGTH = 600
_QUESTION_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said before this question."""

    role: str
    text: str


async def make_plan(
    question: str,
    history: Sequence[Turn],
    tools: Tools,
    *,
    now: datetime,
    ask: Ask | None,
    own_kinds: Sequence[OwnKind] = (),
) -> tuple[Plan, Resolved]:
    """`ask` puts a prompt to the planner model; None: keywords alone.

    Model down, slow or wrong: keyword rules; where they match nothing, hybrid search.
    """
    allowed = plannable(tools)
    earlier = [turn.text for turn in history if turn.role == "user"]
    resolved = resolve(question, earlier)
    steps: tuple[Step, ...] = ()
    source = "keyword"
    if ask is not None and allowed:
        steps = await _by_model(question, history, allowed, now, ask)
        source = "llm"
    if not steps:
        steps, source = by_keyword(resolved.text, allowed, now, own_kinds), "keyword"
    return Plan(resolved.text, steps, source, resolved.is_follow_up), resolved


def by_keyword(
    question: str, tools: Tools, now: datetime, own_kinds: Sequence[OwnKind] = ()
) -> tuple[Step, ...]:
    """What the rules match, then the documents; these alone where they match none."""
    matched = []
    for step in rules.match(question, tools, now):
        try:
            matched.append(checked(step, tools))
        except StepInvalid as error:
            logger.info("A rule's step does not fit: %s", error)
    if any(map(rules.is_deed, matched)):
        return tuple(matched)
    if TOOL in tools:
        # Before the others: a name that the site has given says the most.
        matched = [*match_own(question, own_kinds), *matched]
    found = rules.search(question, tools)
    # The search is never what the limit cuts off.
    return bounded([*matched[: LIMIT - len(found)], *found])


async def _by_model(
    question: str,
    history: Sequence[Turn],
    tools: Tools,
    now: datetime,
    ask: Ask,
) -> tuple[Step, ...]:
    """Empty where the model gave no plan that can be run as it stands."""
    try:
        text = await ask(_prompt(question, history, tools, now))
        return parse_plan(text, tools)
    except (UserFacingError, TimeoutError) as error:
        logger.info("The planner model gave no plan: %s", type(error).__name__)
    except (NotJson, StepInvalid) as error:
        logger.info("The planner model's plan is not valid: %s", error)
    return ()


def parse_plan(text: str, tools: Tools) -> tuple[Step, ...]:
    """Strictly: one wrong step refuses all of it. Raises NotJson, StepInvalid."""
    value = parse_object(text)
    found = value.get("steps")
    if set(value) != {"steps"} or not isinstance(found, list) or not found:
        raise StepInvalid("no list of steps")
    return bounded(checked(_step(one), tools) for one in found)


def _step(value: object) -> Step:
    match value:
        case {"tool": str(tool), **rest} if set(rest) <= {"arguments"}:
            arguments = rest.get("arguments", {})
            if isinstance(arguments, dict):
                return Step(tool, arguments)
    raise StepInvalid("a step is not of the form that was asked for")


def _prompt(
    question: str, history: Sequence[Turn], tools: Tools, now: datetime
) -> list[AnyMessage]:
    fence = new_fence("conversation")
    listed = "\n".join(
        json.dumps(tool.schema()["function"], ensure_ascii=False)
        for tool in tools.values()
    )
    system = _PROMPT.format(
        now=now.strftime("%A, %d %B %Y, %H:%M"),
        limit=LIMIT,
        tools=listed,
        rule=RULE.format(fence=fence),
    )
    said = "\n".join(
        f"{turn.role}: {turn.text[:_TURN_LENGTH]}" for turn in history[-_TURNS:]
    )
    asked = f"Question: {question[:_QUESTION_LENGTH]}"
    if said:
        asked = f"{fenced(fence, said)}\n\n{asked}"
    return [SystemMessage(system), HumanMessage(asked)]
