"""Gathers what a run lends its tools: the only place that knows all its sources."""

from collections.abc import Callable

from chat.agent.context import RunContext, lab_of
from chat.agent.tools.kit import Kit


def kit_of(context: RunContext, say: Callable[[str], None]) -> Kit:
    return Kit(lab=lab_of(context), say=say)
