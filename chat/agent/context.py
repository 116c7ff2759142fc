"""Fetches all that a run needs: the agent's only reading of the database."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from django.utils import timezone
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from chat.agent.person import person_of
from chat.agent.prompts import lab_prompt
from chat.agent.tools.base import as_json
from chat.agent.tools.lab import Lab
from chat.agent.tools.topology import describe
from chat.agent.window import Masked, window_of
from chat.events.redis import redis
from chat.models import Run
from copilot_site.lib.errors import UserFacingError
from llmconfig.clients import chat_client, fitting
from llmconfig.selection import ModelChoice, choose_config
from llmconfig.window import Fit
from projects.connections import client_for
from projects.consoles import ConsoleBusy, in_process_lock
from projects.consoles.redaction import redact
from projects.models import Project

logger = logging.getLogger(__name__)

_TOPOLOGY_SECONDS = 2.0
_TOPOLOGY_LENGTH = 12_000
# Renewed while it is held: a dead worker's console is free within seconds.
_LOCK_SECONDS = 8.0
_LOCK_WAIT_SECONDS = 60.0


@dataclass
class RunContext:
    """A run's rows, turned into what the graph works with."""

    choice: ModelChoice
    model: BaseChatModel
    fit: Fit
    masked: Masked
    messages: list[AnyMessage]
    project: Project | None
    may_change: bool
    gns3_token: str = field(default="", repr=False)


def load_context(run: Run) -> RunContext:
    """In a thread: it reads the database. Raises LLMNotConfigured."""
    if run.llm_config is not None and run.llm_config.is_enabled:
        choice = ModelChoice(run.llm_config, is_offline=False)
    else:
        choice = choose_config(user=run.session.user)
    project = run.session.project
    person = person_of(run)
    # Masked before anything is cut: half of a line no longer shows what it holds.
    leaves = choice.config is not None and choice.config.redacts
    masked: Masked = redact if leaves else str
    return RunContext(
        choice=choice,
        model=chat_client(
            choice,
            temperature=run.temperature,
            max_tokens=run.max_tokens,
        ),
        fit=fitting(choice, max_tokens=run.max_tokens),
        messages=window_of(run, masked),
        masked=masked,
        project=project,
        may_change=person.may_change,
        gns3_token=person.gns3_token,
    )


def lab_of(context: RunContext) -> Lab | None:
    """The run's lab; None for a session in no project."""
    if context.project is None:
        return None
    return Lab(
        client=client_for(context.project.server, token=context.gns3_token),
        project_id=context.project.project_id,
        is_simulated=context.project.server.is_simulated,
        console_lock=console_lock,
    )


def system_prompt(context: RunContext, lab: Lab | None) -> Callable[[], Awaitable[str]]:
    """Made anew for each call, with the topology as it is then."""
    project = context.project

    async def prompt() -> str:
        topology = ""
        if lab is not None and not context.choice.is_offline:
            topology = await _topology(lab)
        return context.masked(
            lab_prompt(
                project=project.name if project else "no project",
                is_simulated=bool(project and project.server.is_simulated),
                topology=topology,
                now=timezone.localtime(),
            )
        )

    return prompt


async def _topology(lab: Lab) -> str:
    """Bounded: a slow GNS3 must not keep a person from being answered."""
    try:
        async with asyncio.timeout(_TOPOLOGY_SECONDS):
            topology = await lab.topology()
    except (UserFacingError, TimeoutError) as error:
        logger.info("No topology for the prompt: %s", error)
        return ""
    text = as_json(describe(topology, is_simulated=lab.is_simulated))
    return text if len(text) <= _TOPOLOGY_LENGTH else ""


@contextlib.asynccontextmanager
async def console_lock(key: str) -> AsyncIterator[None]:
    """One user of a console at a time, over all workers and machines."""
    lock = redis().lock(
        f"copilot:console:{key}",
        timeout=_LOCK_SECONDS,
        blocking_timeout=_LOCK_WAIT_SECONDS,
    )
    async with in_process_lock(key):
        try:
            is_held = await lock.acquire()
        except (RedisError, OSError):
            # Without Redis this worker's own lock must do.
            yield
            return
        if not is_held:
            raise ConsoleBusy(f"The console {key} is in use by another run.")
        renewing = asyncio.create_task(_renew(lock))
        try:
            yield
        finally:
            renewing.cancel()
            with contextlib.suppress(LockError, RedisError, OSError):
                await lock.release()


async def _renew(lock: Lock) -> None:
    while True:
        await asyncio.sleep(_LOCK_SECONDS / 4)
        with contextlib.suppress(RedisError, OSError):
            await lock.reacquire()
