"""Reports of a grounded run: plan, steps and answer, as rows first, then as events."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from chat.agent.grounded.evidence import entry, error_of
from chat.agent.grounded.state import Operation, Outcome, Stage
from chat.agent.grounded.steps import Plan
from chat.agent.ledger import end_llm_call, start_llm_call
from chat.agent.record import RunRecord, effect_of
from chat.agent.state import ToolResult
from chat.agent.translate import Answer, CallRequest
from chat.events.vocabulary import (
    CitationsFound,
    MessageStored,
    PlanMade,
    StageEntered,
    StepEnded,
    UsageReported,
)
from chat.history import openai_message
from chat.models import LLMCall, Message, ToolCall
from copilot_site.lib.orm import in_orm_thread
from llmconfig.selection import ModelChoice

# Why a request to the model gave nothing, though nothing was wrong with it.
_NO_FAULT = ("stopped", "uncited")


class GroundedRecord(RunRecord):
    """The journal of one attempt (see `chat.agent.grounded.state.GroundedJournal`)."""

    # Who plans and judges; None: whoever answers.
    planning: ModelChoice | None = None

    async def asked(self) -> None:
        """An answer from sources may need no model at all."""

    def stage(self, stage: Stage) -> None:
        self.log.put(StageEntered(stage))

    # --- Plan and steps -----------------------------------------------------

    async def plan_stored(self, plan: Plan) -> list[CallRequest]:
        calls = [
            CallRequest(
                f"call_{uuid.uuid4().hex[:24]}",
                step.tool,
                json.dumps(dict(step.arguments), ensure_ascii=False),
            )
            for step in plan.steps
        ]
        steps = [step.as_json() for step in plan.steps]
        message = None
        if calls:
            message = await in_orm_thread(self._store_plan)(plan, calls)
            self.log.put(MessageStored(message))
        message_id = message["id"] if message else None
        self.log.put(PlanMade(steps, plan.source, message_id))
        return calls

    def _store_plan(self, plan: Plan, calls: Sequence[CallRequest]) -> dict[str, Any]:
        self.place += 1
        with transaction.atomic():
            self.hold(saved_seq=self.log.seq + 1)
            message = Message.objects.create(
                session_id=self.run.session_id,
                run=self.run,
                parent_id=self.parent_id,
                round=self.run.round,
                sequence=self.place,
                role=Message.Role.ASSISTANT,
                finish_reason="tool_calls",
                metadata={
                    **self.facts(),
                    "plan": {"source": plan.source, "is_follow_up": plan.is_follow_up},
                },
            )
            rows = [
                ToolCall(
                    run=self.run,
                    message=message,
                    call_id=call.id,
                    position=position,
                    name=call.name,
                    arguments=call.arguments,
                    effect=effect_of(call),
                    attempt=self.run.attempt,
                )
                for position, call in enumerate(calls)
            ]
            ToolCall.objects.bulk_create(rows)
            self.calls.update({row.call_id: row for row in rows})
            self.place = message.sequence + len(rows)
        self.parent_id = message.pk
        return openai_message(message)

    async def step_finished(
        self, index: int, call: CallRequest, result: ToolResult
    ) -> None:
        elapsed = self.elapsed(call)
        await self.tool_finished(call, result)
        self.log.put(
            StepEnded(
                index=index,
                tool=call.name,
                arguments=call.parsed() or {},
                status="error" if result.is_error else "ok",
                result=result.output,
                citations=list(result.evidence.get("passages", ())),
                tool_call_id=call.id,
                error=error_of(result.output) if result.is_error else None,
                elapsed_ms=elapsed,
            )
        )

    def trace(self) -> list[dict[str, Any]]:
        """The steps that earlier attempts have finished."""
        finished = [call for call in self.calls.values() if call.result is not None]
        return [
            entry(
                index,
                call.name,
                json.loads(call.arguments or "{}"),
                call.result.content if call.result else "",
                is_error=call.status != ToolCall.Status.SUCCEEDED,
                evidence=call.evidence,
            )
            for index, call in enumerate(
                sorted(finished, key=lambda call: call.position)
            )
        ]

    # --- Requests to the model ------------------------------------------------

    async def call_started(self, operation: Operation) -> LLMCall:
        planning = self.planning if operation != "chat" else None
        call = await in_orm_thread(start_llm_call)(
            self.run, planning or self.choice, LLMCall.Operation(operation)
        )
        # Whoever falls back to another model hands this entry over to it.
        self.entry = call
        self._llm_call = call if operation == "chat" else None
        return call

    async def call_ended(self, entry: LLMCall, answer: Answer, code: str) -> None:
        status = LLMCall.Status.FAILED if code else LLMCall.Status.SUCCEEDED
        if code in _NO_FAULT:
            status = LLMCall.Status.STOPPED
        await in_orm_thread(end_llm_call)(
            entry,
            status,
            answer.usage,
            reason=code or answer.finish_reason,
            error_code="" if code in _NO_FAULT else code,
        )
        usage = answer.usage
        self.log.put(
            UsageReported(
                entry.model,
                str(entry.operation),
                usage.input_tokens,
                usage.output_tokens,
                usage.total_tokens,
            )
        )

    # --- The answer -------------------------------------------------------------

    async def answer_started(self) -> str:
        message_id = await in_orm_thread(self._reserve_answer)()
        self.begin_draft(message_id)
        return message_id

    def _reserve_answer(self) -> str:
        with transaction.atomic():
            self.hold(saved_seq=self.log.seq)
            message = self.reserve_message()
        return str(message.pk)

    def citations(
        self, message_id: str, citations: Sequence[Mapping[str, Any]]
    ) -> None:
        self.log.put(CitationsFound([dict(one) for one in citations], message_id))

    async def answer_finished(self, message_id: str, outcome: Outcome) -> None:
        self.log.mark()
        message = await in_orm_thread(self._store_outcome)(message_id, outcome)
        self.end_draft(message_id)
        self.finish_reason = outcome.finish_reason
        self.log.put(MessageStored(message))

    def _store_outcome(self, message_id: str, outcome: Outcome) -> dict[str, Any]:
        with transaction.atomic():
            self.hold(saved_seq=self.log.seq + 1)
            message = Message.objects.get(pk=message_id)
            message.content = outcome.text
            message.finish_reason = outcome.finish_reason
            message.is_partial = False
            message.metadata = {**self.facts(), **outcome.as_metadata()}
            message.save()
        return openai_message(message)

    async def answer_failed(self, message_id: str, text: str, code: str) -> None:
        await in_orm_thread(self._store_failed)(message_id, text, code)
        self.end_draft(message_id)

    def _store_failed(self, message_id: str, text: str, code: str) -> None:
        with transaction.atomic():
            self.hold()
            rows = Message.objects.filter(pk=message_id)
            if not text:
                # A blank turn is nothing that anybody said.
                rows.delete()
                return
            rows.update(
                content=text,
                finish_reason=code,
                metadata={
                    **self.facts(),
                    "citations": self.registry.cited_in(text),
                    "stopped": code == "stopped",
                },
            )
