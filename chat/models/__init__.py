"""One file a model; everything else imports from here."""

from chat.models.approval import Approval
from chat.models.feedback import Feedback
from chat.models.llm_call import LLMCall
from chat.models.message import Message
from chat.models.run import Run
from chat.models.session import ChatSession
from chat.models.tool_call import ToolCall
from chat.models.worker import Worker

__all__ = [
    "Approval",
    "ChatSession",
    "Feedback",
    "LLMCall",
    "Message",
    "Run",
    "ToolCall",
    "Worker",
]
