"""The offline model in front of the simulated lab, over real sockets."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from chat.agent.citations import Registry
from chat.agent.tool_results import result_of
from chat.agent.tools import TOOLS
from chat.agent.tools.kit import Kit
from chat.agent.tools.lab import Lab
from llmconfig.offline import OfflineChatModel
from projects.consoles import in_process_lock
from projects.demolab.faults import FAULTS
from projects.demolab.lab import PROJECT_ID, Config
from projects.demolab.server import RunningLab, serve
from projects.gns3.client import Gns3Client

# Each takes seconds: most of them only where there is time.
RANDOM_SEEDS = [
    pytest.param(seed, marks=[pytest.mark.slow] if seed > 5 else [])
    for seed in range(20)
]
# How an answer names each kind of fault on a device.
NAMES = {
    "wrong_gateway": "wrong gateway on {device}",
    "missing_gateway": "{device} has no gateway",
    "wrong_mask": "wrong mask on {device}",
    "wrong_subnet": "{device} has an address in the wrong subnet",
    "duplicate_address": "duplicate address on .*{device}",
    "interface_down": "interface .* of {device} is shut down",
    "wrong_interface_address": "wrong interface address on {device}",
    "missing_route": "missing route on {device}",
    "wrong_next_hop": "wrong next hop on {device}",
    "missing_return_route": "missing return route on {device}",
    "acl_blocks": "access list .* on {device} blocks the traffic",
    "node_stopped": "{device} is stopped",
    "link_suspended": "the link between .*{device}.* is suspended",
    "link_missing": "no link between .*{device}",
}


@dataclass
class Bench:
    """A simulated lab, and the tools that the graph would call on it."""

    running: RunningLab
    lab: Lab

    async def ask(self, question: str) -> tuple[str, list[str]]:
        """The answer, and what the tools returned for it."""
        schemas = [tool.schema() for tool in TOOLS.values()]
        model = OfflineChatModel(pace=0.0).bind_tools(schemas)
        messages: list[BaseMessage] = [HumanMessage(question)]
        outputs: list[str] = []
        registry = Registry()
        for _ in range(8):
            answer = await model.ainvoke(messages)
            assert isinstance(answer, AIMessage)
            messages.append(answer)
            if not answer.tool_calls:
                return answer.text, outputs
            for call in answer.tool_calls:
                tool = TOOLS[call["name"]]
                value = await tool.call(call["args"], Kit(lab=self.lab))
                outputs.append(result_of(tool, value, registry, 20_000).output)
                messages.append(ToolMessage(outputs[-1], tool_call_id=call["id"]))
        raise AssertionError("The model does not come to an end.")

    async def plant(self, fault: str | None, seed: int) -> dict[str, str]:
        login = {"username": "admin", "password": "admin"}
        async with httpx.AsyncClient(base_url=self.running.url) as http:
            answer = await http.post("/v3/access/users/authenticate", json=login)
            token = {"Authorization": f"Bearer {answer.json()['access_token']}"}
            wanted = {"fault": fault, "seed": seed}
            await http.post("/v3/simulator/reset", json=wanted, headers=token)
            truth = await http.get("/v3/simulator", headers=token)
        found: dict[str, str] = truth.json()
        return found


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    running = await serve(Config(pace=0.0))
    client = Gns3Client(running.url, username="admin", password="admin")
    yield Bench(running, Lab(client, PROJECT_ID, True, in_process_lock))
    await client.aclose()
    await running.stop()


def printed_lines(outputs: list[str]) -> set[str]:
    """Every line of console output that the tools returned."""
    devices = [d for text in outputs for d in json.loads(text).get("devices", [])]
    return {
        line.strip()
        for device in devices
        for command in device["commands"]
        for line in command["output"].splitlines()
    }


def quoted_lines(answer: str) -> list[str]:
    """The lines of the evidence blocks, without the prompts above them."""
    blocks = re.findall(r"```text\n(.*?)\n```", answer, re.S)
    evidence = [b for b in blocks if re.match(r"\S+[>#] |\[", b)]
    lines = [line for block in evidence for line in block.split("\n")]
    return [line for line in lines if not re.match(r"\S+[>#] |\[", line)]


async def check(bench: Bench, fault: str | None, seed: int) -> None:
    truth = await bench.plant(fault, seed)

    answer, outputs = await bench.ask(truth["question"])

    device = re.escape(truth["device"])
    assert re.search(NAMES[truth["fault"]].format(device=device), answer), truth
    assert quoted_lines(answer)
    printed = printed_lines(outputs)
    for line in quoted_lines(answer):
        assert line in printed or line in outputs[0], line


@pytest.mark.parametrize("fault", sorted(FAULTS))
async def test_each_kind_of_fault_is_found(bench: Bench, fault: str) -> None:
    await check(bench, fault, 2)


@pytest.mark.parametrize("seed", RANDOM_SEEDS)
async def test_a_fault_planted_at_random_is_found(bench: Bench, seed: int) -> None:
    await check(bench, None, seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_healthy_lab_is_confirmed_by_a_ping(bench: Bench, seed: int) -> None:
    truth = await bench.plant("none", seed)

    answer, _ = await bench.ask(truth["question"])

    assert re.match(r"\*\*\S+ reaches \S+\.\*\*", answer)
    assert "bytes from" in answer


async def test_a_fault_is_found_and_mended(bench: Bench) -> None:
    truth = await bench.plant("missing_route", 5)

    answer, _ = await bench.ask(f"fix it: {truth['question']}")

    assert answer.startswith("**Changed, and ")
    assert "bytes from" in answer
