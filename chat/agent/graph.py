"""The lab agent as a picture: model → gate → tools, side by side → model.

At the gate a run ends here and waits in its rows, where a person has to decide.
"""

from functools import cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from chat.agent.nodes import (
    ToolInput,
    after_gate,
    after_model,
    call_model,
    enter,
    gate,
    run_tool,
)
from chat.agent.state import Context, State


def build_graph(checkpointer: Any = None) -> CompiledStateGraph[State, Context]:
    """Compiled once a process; a run adds where its checkpoints go."""
    return _compiled().copy(update={"checkpointer": checkpointer})


@cache
def _compiled() -> CompiledStateGraph[State, Context]:
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("model", call_model)
    graph.add_node("gate", gate)
    graph.add_node("tool", run_tool, input_schema=ToolInput)
    graph.add_conditional_edges(
        START, enter, {"model": "model", "gate": "gate", "end": END}
    )
    graph.add_conditional_edges("model", after_model, {"gate": "gate", "end": END})
    graph.add_conditional_edges("gate", after_gate, ["tool", "model", END])
    graph.add_edge("tool", "model")
    return graph.compile()
