"""The ledger of LLM calls: a row before each request, completed when it has ended."""

from copy import copy

from django.db import transaction
from django.db.models.base import ModelState
from django.utils import timezone

from chat.models import LLMCall, Run
from llmconfig.deltas import Usage
from llmconfig.selection import ModelChoice

# What the column for it holds.
_LONGEST_REASON = 300


def start_llm_call(
    run: Run, choice: ModelChoice, operation: LLMCall.Operation
) -> LLMCall:
    """On the ledger before it is made, at the prices of now."""
    session, config = run.session, choice.config
    return LLMCall.objects.create(
        run=run,
        session=session,
        user=session.user,
        username=session.user.get_username(),
        project_id=session.project.project_id if session.project else "",
        project_name=session.project.name if session.project else "",
        provider=config.provider if config else "offline",
        model=choice.model,
        operation=operation,
        attempt=run.attempt,
        input_price=config.input_price if config else None,
        output_price=config.output_price if config else None,
        reason=choice.reason[:_LONGEST_REASON],
    )


def hand_over(call: LLMCall, choice: ModelChoice, code: str) -> None:
    """The failed request gets a row of its own; `call` goes on with another model."""
    now, config = timezone.now(), choice.config
    failed = copy(call)
    failed.pk, failed._state = None, ModelState()
    failed.status, failed.finished_at = LLMCall.Status.FAILED, now
    failed.finish_reason = failed.error_code = code
    call.provider = config.provider if config else "offline"
    call.model = choice.model
    call.input_price = config.input_price if config else None
    call.output_price = config.output_price if config else None
    call.reason = choice.reason[:_LONGEST_REASON]
    call.started_at, call.first_token_at = now, None
    with transaction.atomic():
        failed.save()
        call.save(
            update_fields=[
                "provider",
                "model",
                "input_price",
                "output_price",
                "reason",
                "started_at",
                "first_token_at",
            ]
        )


def end_llm_call(
    call: LLMCall,
    status: LLMCall.Status,
    usage: Usage,
    *,
    reason: str = "",
    error_code: str = "",
) -> None:
    """Write what it came to; unknown tokens stay unknown."""
    call.status = status
    call.finish_reason = reason
    call.error_code = error_code
    call.input_tokens = usage.input_tokens
    call.output_tokens = usage.output_tokens
    call.total_tokens = usage.total_tokens
    call.cost = call.price()
    call.finished_at = timezone.now()
    # Not its run or session: those may have been deleted meanwhile.
    call.save(
        update_fields=[
            "status",
            "finish_reason",
            "error_code",
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "cost",
            "first_token_at",
            "finished_at",
        ]
    )
