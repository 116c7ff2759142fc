"""What operators see of conversations: read, pin, rename, stop, delete, audit."""

from chat.admin import feedback, ledger, records, sessions

__all__ = ["feedback", "ledger", "records", "sessions"]
