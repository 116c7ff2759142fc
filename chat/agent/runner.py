"""One run, from claimed to finished: the only boundary at which its errors end."""

import asyncio
import contextlib
import functools
import logging
import time
from dataclasses import dataclass
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from redis.exceptions import RedisError

from accounts.language import language_of
from chat.agent.checkpoints import Checkpoints, only_while_running
from chat.agent.context import RunContext, load_context, title_choice
from chat.agent.drafts import DraftSaver
from chat.agent.graph import build_graph
from chat.agent.grounded_record import GroundedRecord
from chat.agent.grounded_run import answer_grounded
from chat.agent.kit import kit_of
from chat.agent.model_reports import ModelReports
from chat.agent.nodes import is_change
from chat.agent.prompts import system_prompt
from chat.agent.record import LeaseLost, RunRecord
from chat.agent.state import Context, State, current_kit, current_model
from chat.agent.takeover import open_requests, resume, unknown_outcomes
from chat.agent.titles import fallback, make_title, store_title
from chat.agent.tools import TOOLS, offered
from chat.ending import end_run
from chat.events.address import RunAddress, user_group
from chat.events.vocabulary import MessageStored, TitleChanged
from chat.events.writer import RunLog
from chat.history import openai_message
from chat.models import Message, Run
from chat.models.run import EXECUTING, Status
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from copilot_site.lib.secret_values import mask

logger = logging.getLogger(__name__)

_FAILED = _("Something went wrong. The operator finds the details in the log.")
_TOO_LONG = _("The run took longer than allowed and was ended.")
_TOO_MANY_STEPS = _("The copilot took too many steps without a final answer.")
# What providers call the end of an answer that is whole.
_USUAL_ENDS = ("stop", "tool_calls", "tool_use", "function_call", "end_turn", "eos")
_CANCEL_SECONDS = 5.0
# A title that takes longer than the answer arrives on the user's own channel.
_TITLE_SECONDS = 30.0


class Execution:
    """One attempt at a run on this worker's loop; can be told to end."""

    def __init__(self, run: Run, checkpoints: Checkpoints) -> None:
        self.run = run
        self._checkpoints = checkpoints
        self._task: asyncio.Task[None] | None = None
        self._end: Status | None = None
        self._reason = ""
        self._language = settings.LANGUAGE_CODE
        self._unusual_end = ""
        self._is_waiting = False
        self._cancelled_at: float | None = None
        self._is_abandoned = False
        self.ended = asyncio.Event()

    def stop(self, reason: str) -> None:
        """A person's stop: what was said is kept."""
        self._cancel(Status.STOPPED, reason)

    def abandon(self) -> None:
        """The lease is lost: another worker goes on, this one writes nothing."""
        self._is_abandoned = True
        self._cancel(None, "")

    def _cancel(self, end: Status | None, reason: str) -> None:
        if self._task is None or self._task.done():
            return
        now = time.monotonic()
        if self._cancelled_at is None:
            self._end, self._reason = end, reason
        elif now - self._cancelled_at < _CANCEL_SECONDS:
            # It is putting away what it has.
            return
        # Once more, where something has swallowed the first.
        self._cancelled_at = now
        self._task.cancel()

    async def execute(self) -> None:
        """Returns when the run has ended or is another worker's."""
        try:
            await self._execute()
        finally:
            self.ended.set()

    async def _execute(self) -> None:
        run = self.run
        log = RunLog(RunAddress.of(run), run.attempt)
        log.on_fenced = self.abandon
        status, error, code, reason = Status.SUCCEEDED, "", "", ""
        self._task = asyncio.create_task(self._in_their_language(log))
        try:
            await self._task
        except LeaseLost:
            return
        except asyncio.CancelledError:
            if self._is_abandoned or self._end is None:
                return
            status, reason = self._end, self._reason
        except UserFacingError as exc:
            status, error, code = Status.FAILED, mask(self._said(exc)), exc.code
        except TimeoutError:
            status, code = Status.FAILED, "time_limit"
            error = self._said(_TOO_LONG)
        except GraphRecursionError:
            status, code = Status.FAILED, "step_limit"
            error = self._said(_TOO_MANY_STEPS)
        except Exception:
            logger.exception("Run %s failed", run.pk)
            status, code = Status.FAILED, "internal_error"
            error = self._said(_FAILED)
        if self._is_waiting and status == Status.SUCCEEDED:
            await self._let_go(log)
            return
        if status == Status.SUCCEEDED:
            reason = self._unusual_end
        await self._finish(log, status, reason=reason, error=error, code=code)

    async def _in_their_language(self, log: RunLog) -> None:
        """Texts of the run are in its person's language, in this task alone."""
        begun = await in_orm_thread(self._begin)(log)
        with translation.override(self._language):
            await self._work(log, begun)

    def _begin(self, log: RunLog) -> "_Begun":
        """In a thread, and at one go: whoever asked waits for it."""
        run = self.run
        chosen = language_of(run.session.user)
        self._language = chosen or settings.LANGUAGE_CODE
        with translation.override(self._language):
            context = load_context(run, chosen)
        facts = {}
        if context.project is not None:
            server = context.project.server
            facts["lab"] = "simulated" if server.is_simulated else "real"
        record = _record_of(run)(run, log, context.choice, facts)
        record.is_of_data = "query_data" in context.profile.tools
        return _Begun(context, record, resume(record), _question(run))

    def _said(self, text: object) -> str:
        with translation.override(self._language):
            return str(text)

    async def _work(self, log: RunLog, begun: "_Begun") -> None:
        run, context, record = self.run, begun.context, begun.record
        await log.open(begun.discarded, floor=run.saved_seq)
        if run.attempt > 1:
            changes = {
                call.id for call in open_requests(record) if is_change(call, TOOLS)
            }
            for ended in await in_orm_thread(unknown_outcomes)(record, changes):
                log.put(ended)
            context = await in_orm_thread(load_context)(run, context.language)
        if run.saved_seq == 0:
            log.put(MessageStored(openai_message(begun.question)))
        title = self._start_title(record, context, begun.question)
        try:
            async with asyncio.timeout(settings.RUN_TIME_LIMIT):
                with DraftSaver.of_this_loop().saving(record):
                    self._is_waiting = await self._ask(record, context)
            if record.finish_reason not in _USUAL_ENDS:
                # Such as `length`: the answer is there, but not whole.
                self._unusual_end = record.finish_reason[:64]
        finally:
            record.ask_no_more()
            if title is not None:
                # One that is late arrives on the user's channel, after `done`.
                title.add_done_callback(_background.discard)
                _background.add(title)

    async def _ask(self, record: RunRecord, context: RunContext) -> bool:
        """Run the graph; whether a person has to decide before it can go on.

        Model and kit, with their keys, live only while it runs.
        """
        say = functools.partial(record.status, "progress")
        kit = await kit_of(context, say)
        context.model.report_to(ModelReports(record))
        model_token = current_model.set(context.model)
        kit_token = current_kit.set(kit)
        thread = self.run.session.thread_id
        project_id = context.project.project_id if context.project else ""
        try:
            async with (
                self._checkpoints.of(project_id) as saver,
                only_while_running(saver, thread),
            ):
                config: RunnableConfig = {
                    "configurable": {"thread_id": thread, "project_id": project_id},
                    "metadata": {"user_id": str(self.run.session.user_id)},
                    "recursion_limit": settings.STEP_LIMIT * 4 + 10,
                }
                if isinstance(record, GroundedRecord):
                    await answer_grounded(record, context, kit, saver, config)
                    return False
                graph = build_graph(saver)
                state: State = {"messages": context.messages, "steps": 0}
                end = await graph.ainvoke(
                    state,
                    config,
                    context=Context(
                        journal=record,
                        tools=offered(context.profile.tools, kit),
                        system_prompt=system_prompt(context, kit),
                        step_limit=settings.STEP_LIMIT,
                        may_change=context.may_change,
                        shows_reasoning=context.profile.shows_reasoning,
                        approval=context.approval,
                        fit=context.fit,
                        masked=context.masked,
                        output_limit=settings.TOOL_OUTPUT_LENGTH,
                        registry=record.registry,
                    ),
                    durability="async",
                )
                return bool(end.get("is_waiting"))
        finally:
            current_kit.reset(kit_token)
            current_model.reset(model_token)

    def _start_title(
        self, record: RunRecord, context: RunContext, question: Message
    ) -> asyncio.Task[None] | None:
        session = self.run.session
        if session.title or self.run.round != 1:
            return None
        return asyncio.create_task(self._title(record, context, question.content))

    async def _title(
        self, record: RunRecord, context: RunContext, question: str
    ) -> None:
        # Beside the answer, but behind it: that is what the person waits for.
        await record.asked()
        log = record.log
        try:
            async with asyncio.timeout(_TITLE_SECONDS):
                choice = await in_orm_thread(title_choice)(self.run, context)
                title = await make_title(self.run, question, choice, context.language)
        except TimeoutError:
            title = await store_title(self.run, fallback(question))
        if title is None:
            return
        if not log.is_over:
            log.put(TitleChanged(title))
        event = {
            "type": "title",
            "session_id": self.run.session.thread_id,
            "title": title,
        }
        with contextlib.suppress(RedisError, OSError):
            await get_channel_layer().group_send(
                user_group(self.run.session.user_id),
                {"type": "user.event", "event": event},
            )

    async def _let_go(self, log: RunLog) -> None:
        """The run waits in its row; one who stopped it meanwhile gets it stopped."""
        run = self.run
        if run.status != Status.WAITING_APPROVAL:
            await in_orm_thread(run.refresh_from_db)(fields=["status", "reason"])
        if run.status == Status.STOPPING:
            reason = run.reason or "user"
            await self._finish(log, Status.STOPPED, reason=reason, error="", code="")
        else:
            await log.flush()

    async def _finish(
        self, log: RunLog, status: Status, *, reason: str, error: str, code: str
    ) -> None:
        # Row first, then events: no client may hear of a state it cannot read.
        closing = await in_orm_thread(end_run)(
            self.run,
            EXECUTING,
            status,
            last_seq=log.close(),
            reason=reason,
            error=error,
            error_code=code,
        )
        for event in closing or []:
            log.put(event)
        await log.flush()


class AttemptsUsedUp(UserFacingError):
    code = "attempts_used_up"

    def __init__(self) -> None:
        super().__init__(
            _(
                "The worker died each time it tried to answer this. "
                "An operator should look at the worker's log."
            )
        )


@dataclass(frozen=True)
class _Begun:
    """What the database knows of a run when an attempt at it begins."""

    context: RunContext
    record: RunRecord
    discarded: list[str]
    question: Message


def _record_of(run: Run) -> type[RunRecord]:
    return GroundedRecord if run.agent == "grounded" else RunRecord


def _question(run: Run) -> Message:
    return run.messages.filter(role=Message.Role.USER).order_by("sequence")[0]


# Keeps late titles from being collected while they run.
_background: set[asyncio.Task[Any]] = set()
