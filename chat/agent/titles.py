"""A title from the first message, made beside the answer; a person's always wins."""

import logging
import re

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from chat.agent.ledger import end_llm_call, start_llm_call
from chat.agent.prompts import title_prompt
from chat.agent.translate import Answer, Assembler
from chat.models import ChatSession, LLMCall, Run
from copilot_site.lib.orm import in_orm_thread
from llmconfig.clients import chat_client
from llmconfig.selection import ModelChoice
from llmconfig.streaming import ask

logger = logging.getLogger(__name__)

LENGTH = 40
_FALLBACK_LENGTH = 28
_QUESTION_LENGTH = 2_000


async def make_title(
    run: Run, question: str, choice: ModelChoice, language: str
) -> str | None:
    """The title as stored; None if a person named the session first."""
    call = await in_orm_thread(start_llm_call)(run, choice, LLMCall.Operation.TITLE)
    assembler = Assembler()
    status, code = LLMCall.Status.FAILED, "title_failed"
    try:
        prompt: list[AnyMessage] = [
            SystemMessage(title_prompt(language)),
            HumanMessage(question[:_QUESTION_LENGTH]),
        ]
        async for delta in ask(chat_client(choice), prompt):
            for _ in assembler.feed(delta):
                pass
        status, code = LLMCall.Status.SUCCEEDED, ""
    except Exception as error:
        # A title is never worth an error of the run.
        logger.info("No title from the model: %s", type(error).__name__)
    finally:
        await in_orm_thread(_settle)(run, call, status, assembler.answer, code)
    return await store_title(run, cleaned(assembler.answer.text) or fallback(question))


async def store_title(run: Run, title: str) -> str | None:
    """The title, unless a person named the session first."""
    stored = await in_orm_thread(ChatSession.suggest_title)(run.session, title)
    return title if stored else None


def _settle(
    run: Run, call: LLMCall, status: LLMCall.Status, answer: Answer, error_code: str
) -> None:
    """End the call; after the run's end its tokens are added to the totals here."""
    sessions = ChatSession.objects.filter(pk=run.session_id)
    read = answer.usage.input_tokens or 0
    written = answer.usage.output_tokens or 0
    with transaction.atomic():
        # The same lock as the run's end: one of the two counts this call.
        sessions.select_for_update().first()
        end_llm_call(
            call,
            status,
            answer.usage,
            reason=answer.finish_reason,
            error_code=error_code,
        )
        ended = Run.objects.filter(pk=run.pk, finished_at__isnull=False)
        if not ended.exists():
            return
        # Unknown stays unknown: what the provider did not say adds nothing.
        if answer.usage.input_tokens is not None:
            ended.update(input_tokens=Coalesce("input_tokens", 0) + read)
        if answer.usage.output_tokens is not None:
            ended.update(output_tokens=Coalesce("output_tokens", 0) + written)
        sessions.update(
            input_tokens=F("input_tokens") + read,
            output_tokens=F("output_tokens") + written,
            total_tokens=F("total_tokens") + read + written,
        )


def cleaned(text: str) -> str:
    """One line, without thinking, tags, quotation marks, Markdown; cut at a word."""
    text = re.sub(r"<think>.*?(</think>|$)", "", text, flags=re.DOTALL | re.IGNORECASE)
    text = re.sub(r"<[^>]{0,100}>", "", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[0] if lines else ""
    line = re.sub(r"^(title|titel|标题)\s*[:：]\s*", "", line, flags=re.IGNORECASE)
    line = line.strip(" \t\"'“”„«»「」*_#`.").strip()
    if len(line) <= LENGTH:
        return line
    head = line[: LENGTH - 1]
    return f"{head.rsplit(' ', 1)[0] if ' ' in head else head}…"


def fallback(question: str) -> str:
    """The beginning of what was asked."""
    line = " ".join(question.split())
    return line[:_FALLBACK_LENGTH] or "Untitled conversation"
