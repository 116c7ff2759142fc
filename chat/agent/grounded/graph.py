"""The grounded agent as a picture: plan → step by step → judge → answer, or decline."""

from functools import cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from chat.agent.grounded.answer import answer
from chat.agent.grounded.nodes import (
    after_judge,
    after_step,
    decline,
    enter,
    judge,
    plan,
    step,
)
from chat.agent.grounded.state import GroundedContext, GroundedState

Graph = CompiledStateGraph[GroundedState, GroundedContext]


def build_grounded_graph(checkpointer: Any = None) -> Graph:
    """Compiled once a process; a run adds where its checkpoints go."""
    return _compiled().copy(update={"checkpointer": checkpointer})


@cache
def _compiled() -> Graph:
    graph = StateGraph(GroundedState, context_schema=GroundedContext)
    graph.add_node("plan", plan)
    graph.add_node("step", step)
    graph.add_node("judge", judge)
    graph.add_node("answer", answer)
    graph.add_node("decline", decline)
    graph.add_conditional_edges(
        START, enter, {"plan": "plan", "step": "step", "judge": "judge", "end": END}
    )
    # A plan without steps leaves nothing to do but to decline.
    graph.add_conditional_edges("plan", after_step, {"step": "step", "judge": "judge"})
    graph.add_conditional_edges("step", after_step, {"step": "step", "judge": "judge"})
    graph.add_conditional_edges(
        "judge", after_judge, {"answer": "answer", "decline": "decline"}
    )
    graph.add_edge("answer", END)
    graph.add_edge("decline", END)
    return graph.compile()
