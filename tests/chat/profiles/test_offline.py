"""The offline model keeps to the tools of a profile."""

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from llmconfig.offline.decide import decide
from llmconfig.offline.steps import Calls

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["teaching", "analyst"])
@pytest.mark.parametrize(
    "question",
    [
        "Add two PCs and a switch, and connect them.",
        "Start R1",
        "Set the address of PC1 to 10.0.0.5/24",
        "Why can't PC1 reach PC2?",
    ],
)
def test_no_tool_outside_the_profile_is_called(name: str, question: str) -> None:
    profile = json.loads((ROOT / f"profiles/{name}.json").read_text())
    tools = frozenset(profile["tools"])

    step = decide([SystemMessage("."), HumanMessage(question)], tools)

    if isinstance(step, Calls):
        assert {call.tool for call in step.calls} <= tools
    else:
        assert step.text
