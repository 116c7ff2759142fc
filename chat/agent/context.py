"""Fetches all that a run needs: the agent's only reading of the database."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from langchain_core.messages import AnyMessage, HumanMessage
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from chat.agent.person import person_of
from chat.agent.tools.lab import Lab
from chat.agent.window import Masked, window_of
from chat.documents.images import images_of
from chat.events.redis import redis
from chat.models import ChatSession, Run
from chat.profiles.active import ActiveProfile, profile_for
from llmconfig.clients import chain_of, fitting
from llmconfig.fallback import FallbackModel
from llmconfig.selection import LLMNotConfigured, ModelChoice, choose
from llmconfig.window import Fit
from projects.connections import client_for
from projects.consoles import ConsoleBusy, in_process_lock
from projects.consoles.redaction import redact
from projects.models import Project

logger = logging.getLogger(__name__)

# Renewed while it is held: a dead worker's console is free within seconds.
_LOCK_SECONDS = 8.0
_LOCK_WAIT_SECONDS = 60.0


@dataclass
class RunContext:
    """A run's rows, turned into what the graph works with."""

    user: User
    session: ChatSession
    language: str
    profile: ActiveProfile
    choice: ModelChoice
    model: FallbackModel
    fit: Fit
    masked: Masked
    messages: list[AnyMessage]
    project: Project | None
    may_change: bool
    approval: str
    options: dict[str, Any]
    gns3_token: str = field(default="", repr=False)


def load_context(run: Run, language: str) -> RunContext:
    """In a thread: it reads the database. Raises LLMNotConfigured, ProfileUnknown."""
    # The version it was started with, also after a takeover.
    profile = profile_for(run.profile, version=run.profile_version)
    user = run.session.user
    choice = _answering(run, profile)
    project = run.session.project
    person = person_of(run)
    # Masked before anything is cut: half of a line no longer shows what it holds.
    leaves = choice.config is not None and choice.config.redacts
    masked: Masked = redact if leaves else str
    messages = window_of(run, masked)
    chain = chain_of(
        choice,
        # Those that come first leave what is masked already.
        str if leaves else redact,
        temperature=run.temperature,
        max_tokens=run.max_tokens,
    )
    images = images_of(
        [message.id for message in messages if isinstance(message, HumanMessage)],
        are_seen=any(one.sees_images for one in chain.candidates),
    )
    return RunContext(
        user=user,
        session=run.session,
        language=language,
        profile=profile,
        choice=choice,
        model=FallbackModel(chain, images=images),
        fit=fitting(choice, max_tokens=run.max_tokens),
        messages=messages,
        masked=masked,
        project=project,
        may_change=person.may_change,
        approval=_policy(profile.approval, settings.APPROVAL_POLICY),
        options=run.options,
        gns3_token=person.gns3_token,
    )


def _answering(run: Run, profile: ActiveProfile) -> ModelChoice:
    """Raises LLMNotConfigured."""

    def chosen(operation: str) -> ModelChoice:
        wanted = profile.model_for(operation)
        return choose(user=run.session.user, first=run.llm_config_id, **wanted)

    if profile.analyses:
        # A site may have no model that serves for it: one for answers does then.
        with contextlib.suppress(LLMNotConfigured):
            found = chosen("analysis")
            if not found.is_offline:
                return found
    return chosen("chat")


def title_choice(run: Run, context: RunContext) -> ModelChoice:
    """Often a smaller model; the run's own where there is none for titles."""
    choice = context.choice
    if choice.is_offline:
        return choice
    try:
        found = choose(user=context.user, **context.profile.model_for("title"))
    except LLMNotConfigured:
        return choice
    return choice if found.is_offline else found


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


def _policy(*policies: str) -> str:
    """The site's and the profile's: each may forbid, and else each may trust."""
    found = (each for each in ("never_change", "trust") if each in policies)
    return next(found, "ask")


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
