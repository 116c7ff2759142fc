"""Reports of a run in progress: rows first, then events; a lost lease ends both."""

import asyncio
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from chat.agent.asking import wait_for_approval
from chat.agent.citations import Registry
from chat.agent.ledger import end_llm_call, start_llm_call
from chat.agent.state import Asked, Consent, ToolResult
from chat.agent.tools import TOOLS
from chat.agent.translate import Answer, CallRequest
from chat.events.vocabulary import (
    LogLine,
    MessageStored,
    StatusChanged,
    ToolCallWritten,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from chat.events.writer import RunLog, Throttle
from chat.history import openai_message
from chat.models import LLMCall, Message, Run, ToolCall
from chat.models.run import EXECUTING
from copilot_site.lib.orm import in_orm_thread
from llmconfig.deltas import Usage
from llmconfig.selection import ModelChoice
from llmconfig.window import Window

_CALL_EVENTS_SECONDS = 0.1
_UNPARSED_CALL = (
    "The model wrote a tool call as text instead of calling the tool; it was not run. "
    "Ask again, or use a model that supports tools."
)
_BLANK_ANSWER = (
    "The model answered nothing. Ask again, put the question another way, or use "
    "another model."
)
_UNFOUNDED = (
    "This answer names no result that its figures rest on. Check them before you use "
    "them, or ask for the query."
)
# Below this share of a long prompt, a server has cut it rather than counted otherwise.
_SMALL_PART = 0.5
_MUCH = 3_000
_CUT_PROMPT = (
    "The model's server read {read} tokens of about {sent} that were sent: it cuts "
    "long prompts. Raise its context size, or lower the limit in the LLM config."
)


class LeaseLost(Exception):
    """Another worker owns the run; nothing more of this attempt may be written."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Answers of a run that are being written, by message."""

    run_id: uuid.UUID
    attempt: int
    seq: int
    texts: Mapping[str, str]


class RunRecord:
    """The journal of one attempt (see `chat.agent.state.Journal`)."""

    def __init__(
        self, run: Run, log: RunLog, choice: ModelChoice, facts: dict[str, Any]
    ) -> None:
        self.run = run
        self.log = log
        self.choice = choice
        self.registry = Registry()
        # Its figures should come from databases, and say from where.
        self.is_of_data = False
        self._facts = facts
        self.place = 1
        self.parent_id: Any = None
        self._draft: dict[str, list[str]] = {}
        self._saved_length = 0
        self._llm_call: LLMCall | None = None
        # The request to a model that is in progress.
        self.entry: LLMCall | None = None
        # What a person should know of the models behind the next answer.
        self.notes: list[str] = []
        self.calls: dict[str, ToolCall] = {}
        self.known_consents: dict[str, Consent] = {}
        self._throttle = Throttle(_CALL_EVENTS_SECONDS)
        self._started: dict[str, float] = {}
        self._evidence_at: datetime | None = None
        self.finish_reason = ""
        self._window: Window | None = None
        self._is_asked = asyncio.Event()

    # --- Model --------------------------------------------------------------

    async def model_started(self) -> str:
        message_id = await in_orm_thread(self._reserve)()
        self.begin_draft(message_id)
        return message_id

    def _reserve(self) -> str:
        with transaction.atomic():
            self.hold(saved_seq=self.log.seq)
            message = self.reserve_message()
            self._llm_call = self.entry = start_llm_call(
                self.run, self.choice, LLMCall.Operation.CHAT
            )
        return str(message.pk)

    def reserve_message(self) -> Message:
        """In a transaction: the place of an answer that is being written."""
        self.place += 1
        message = Message.objects.create(
            session_id=self.run.session_id,
            run=self.run,
            parent_id=self.parent_id,
            round=self.run.round,
            sequence=self.place,
            role=Message.Role.ASSISTANT,
            is_partial=True,
        )
        self.parent_id = message.pk
        return message

    def begin_draft(self, message_id: str) -> None:
        self._draft = {message_id: []}
        self._saved_length = 0

    def end_draft(self, message_id: str) -> None:
        self._draft.pop(message_id, None)

    def text(self, message_id: str, piece: str) -> None:
        if self._llm_call is not None and self._llm_call.first_token_at is None:
            self._llm_call.first_token_at = timezone.now()
        self._draft[message_id].append(piece)
        self.log.text(message_id, piece)

    def reasoning(self, message_id: str, piece: str) -> None:
        self.log.reasoning(message_id, piece)

    def call_written(
        self, message_id: str, call: CallRequest, *, is_complete: bool
    ) -> None:
        is_first = call.id not in self._started
        if is_first:
            # S1's clients expect each call to open with empty arguments.
            self._started[call.id] = time.monotonic()
            self._put_call(message_id, call, "", is_complete=False)
        if is_complete or self._throttle.allows(call.id):
            self._put_call(message_id, call, call.arguments, is_complete=is_complete)

    def _put_call(
        self, message_id: str, call: CallRequest, arguments: str, *, is_complete: bool
    ) -> None:
        function: dict[str, Any] = {"name": call.name, "arguments": arguments}
        if is_complete:
            function["arguments"] = arguments or "{}"
            function["complete"] = True
        written = {"id": call.id, "type": "function", "function": function}
        self.log.put(ToolCallWritten(written, call.id, message_id))

    def unsaved(self) -> Draft | None:
        """All that is written so far, if any of it is new: then counts as saved."""
        length = sum(len(part) for parts in self._draft.values() for part in parts)
        if length == self._saved_length:
            return None
        self._saved_length = length
        return Draft(
            run_id=self.run.pk,
            attempt=self.run.attempt,
            # Up to the newest event: a snapshot of the rows can stand for it.
            seq=self.log.mark(),
            texts={key: "".join(parts) for key, parts in self._draft.items()},
        )

    async def model_finished(self, message_id: str, answer: Answer) -> None:
        self.log.mark()
        warnings = self._warnings(answer)
        message = await in_orm_thread(self._store_answer)(message_id, answer, warnings)
        self.end_draft(message_id)
        self.finish_reason = answer.finish_reason
        for line in warnings:
            self.log.put(line)
        self.log.put(self._usage(answer.usage))
        self.log.put(MessageStored(message))

    def _store_answer(
        self, message_id: str, answer: Answer, warnings: Sequence[LogLine]
    ) -> dict[str, Any]:
        with transaction.atomic():
            self.hold(saved_seq=self.log.seq + len(warnings) + 2)
            message = Message.objects.get(pk=message_id)
            message.content = answer.text
            message.reasoning = answer.reasoning
            message.finish_reason = answer.finish_reason
            message.is_partial = False
            message.metadata = self.facts()
            if cited := self.registry.cited_in(answer.text):
                message.metadata["citations"] = cited
            if warnings:
                message.metadata["warnings"] = [line.text for line in warnings]
            message.save()
            calls = [
                ToolCall(
                    run=self.run,
                    message=message,
                    call_id=call.id,
                    position=position,
                    name=call.name,
                    arguments=call.arguments,
                    extra=call.extra,
                    effect=effect_of(call),
                    attempt=self.run.attempt,
                )
                for position, call in enumerate(answer.calls)
            ]
            ToolCall.objects.bulk_create(calls)
            self.calls.update({call.call_id: call for call in calls})
            self.place = message.sequence + len(calls)
            self._end_llm_call(
                LLMCall.Status.SUCCEEDED, answer.usage, answer.finish_reason
            )
        return openai_message(message)

    async def model_failed(self, message_id: str, answer: Answer, code: str) -> None:
        await in_orm_thread(self._store_partial)(message_id, answer, code)
        self.end_draft(message_id)

    def _store_partial(self, message_id: str, answer: Answer, code: str) -> None:
        stopped = code == "stopped"
        with transaction.atomic():
            self.hold()
            if answer.text or answer.reasoning:
                Message.objects.filter(pk=message_id).update(
                    content=answer.text,
                    reasoning=answer.reasoning,
                    finish_reason=code,
                    metadata={**self.facts(), "stopped": stopped},
                )
            else:
                # A blank turn is nothing that anybody said.
                Message.objects.filter(pk=message_id).delete()
            self._end_llm_call(
                LLMCall.Status.STOPPED if stopped else LLMCall.Status.FAILED,
                answer.usage,
                code,
                error_code="" if stopped else code,
            )

    def _end_llm_call(
        self, status: LLMCall.Status, usage: Usage, reason: str, *, error_code: str = ""
    ) -> None:
        if self._llm_call is not None:
            end_llm_call(
                self._llm_call, status, usage, reason=reason, error_code=error_code
            )

    def window(self, window: Window) -> None:
        self._window = window
        self._is_asked.set()

    async def asked(self) -> None:
        """Wait until the first request to the model is on its way, or not needed."""
        await self._is_asked.wait()

    def ask_no_more(self) -> None:
        self._is_asked.set()

    def _warnings(self, answer: Answer) -> list[LogLine]:
        """What a person should know of an answer that looks well and is not."""
        lines = []
        if answer.has_unparsed_call:
            lines.append(LogLine("warning", _UNPARSED_CALL))
        if not answer.text.strip() and not answer.calls and not lines:
            lines.append(LogLine("warning", _BLANK_ANSWER))
        if self._is_unfounded(answer):
            lines.append(LogLine("warning", _UNFOUNDED))
        sent = self._window.used if self._window else 0
        read = answer.usage.input_tokens
        if read and sent > _MUCH and read < sent * _SMALL_PART:
            lines.append(LogLine("warning", _CUT_PROMPT.format(read=read, sent=sent)))
        return lines

    def _is_unfounded(self, answer: Answer) -> bool:
        """Whether it ends with figures, and cites none of what was looked up."""
        return (
            self.is_of_data
            and not answer.calls
            and re.search(r"\d", answer.text) is not None
            and not self.registry.cited_in(answer.text)
        )

    def _usage(self, usage: Usage) -> UsageReported:
        return UsageReported(
            self.choice.model,
            LLMCall.Operation.CHAT,
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            self._window.used if self._window and self._window.limit else None,
            self._window.limit if self._window and self._window.limit else None,
        )

    def facts(self) -> dict[str, Any]:
        """What an answer rests on: model, lab if one was read, newest evidence."""
        facts: dict[str, Any] = {"model": self.choice.model}
        if any(map(_is_of_lab, self.calls.values())):
            facts.update(self._facts)
        if self.choice.is_offline:
            facts["is_offline"] = True
        if self.choice.reason:
            facts["model_reason"] = self.choice.reason
        if self.notes:
            facts["model_notes"] = list(self.notes)
        if self._evidence_at is not None:
            facts["evidence_at"] = self._evidence_at.isoformat()
        return facts

    # --- Tools --------------------------------------------------------------

    def raw_arguments(self, call_id: str) -> str:
        return self.calls[call_id].arguments

    async def tool_started(self, call: CallRequest) -> ToolResult | None:
        row = self.calls[call.id]
        if row.result is not None:
            failed = row.status != ToolCall.Status.SUCCEEDED
            return ToolResult(row.result.content, failed, row.evidence)
        await in_orm_thread(self._start_call)(row)
        self._started[call.id] = time.monotonic()
        self.log.put(ToolStarted(call.name, call.id))
        return None

    def _start_call(self, row: ToolCall) -> None:
        row.status = ToolCall.Status.RUNNING
        row.started_at = timezone.now()
        row.attempt = self.run.attempt
        with transaction.atomic():
            self.hold()
            row.save(update_fields=["status", "started_at", "attempt"])

    async def tool_finished(self, call: CallRequest, result: ToolResult) -> None:
        elapsed = self.elapsed(call)
        await in_orm_thread(self.finish_call)(self.calls[call.id], result, elapsed)
        status = "error" if result.is_error else "ok"
        self.log.put(ToolEnded(call.name, call.id, result.output, status, elapsed))

    def elapsed(self, call: CallRequest) -> int:
        """Milliseconds since its start."""
        return int((time.monotonic() - self._started[call.id]) * 1000)

    def finish_call(self, row: ToolCall, result: ToolResult, elapsed: int) -> None:
        now = timezone.now()
        found = result.evidence.get("passages")
        with transaction.atomic():
            # Its event, if a dying worker never sends it, leaves a gap in the log.
            self.hold(saved_seq=self.log.seq + 1)
            row.result = Message.objects.create(
                session_id=self.run.session_id,
                run=self.run,
                parent_id=row.message_id,
                round=self.run.round,
                sequence=row.message.sequence + 1 + row.position,
                role=Message.Role.TOOL,
                name=row.name,
                tool_call_id=row.call_id,
                content=result.output,
                metadata={
                    "elapsed_ms": elapsed,
                    **({"is_error": True} if result.is_error else {}),
                    **({"found": len(found)} if found else {}),
                },
                created_at=now,
            )
            row.status = (
                ToolCall.Status.FAILED if result.is_error else ToolCall.Status.SUCCEEDED
            )
            row.finished_at, row.elapsed_ms = now, elapsed
            row.evidence = result.evidence
            row.save(
                update_fields=[
                    *("result", "status", "finished_at", "elapsed_ms", "evidence")
                ]
            )
        self._evidence_at = now

    def consents(self) -> Mapping[str, Consent]:
        return self.known_consents

    async def wait_for_approval(
        self, asked: Sequence[Asked], expired: Mapping[str, str]
    ) -> None:
        events = await in_orm_thread(wait_for_approval)(
            self.run, self.calls, asked, expired, last_seq=self.log.close()
        )
        for event in events:
            self.log.put(event)

    def status(self, status: str, text: str) -> None:
        self.log.put(StatusChanged(status, text))

    # --- The lease ---------------------------------------------------------------

    def hold(self, **fields: Any) -> None:
        """In a transaction: the run is still ours, or LeaseLost undoes it all."""
        fields = fields or {"attempt": self.run.attempt}
        if "saved_seq" in fields:
            # Parallel tools may finish in another order than they were numbered.
            fields["saved_seq"] = Greatest(F("saved_seq"), fields["saved_seq"])
        rows = Run.objects.filter(
            pk=self.run.pk, attempt=self.run.attempt, status__in=EXECUTING
        )
        if rows.update(**fields) != 1:
            raise LeaseLost


def effect_of(call: CallRequest) -> str:
    """Empty for what cannot run: an unknown tool, arguments that do not parse."""
    tool, arguments = TOOLS.get(call.name), call.parsed()
    return "" if tool is None or arguments is None else tool.effect(arguments)


def _is_of_lab(row: ToolCall) -> bool:
    """Whether a lab has answered it."""
    tool = TOOLS.get(row.name)
    return row.result is not None and tool is not None and tool.needs == "lab"
