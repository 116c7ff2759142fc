"""What operators see of conversations: read, pin, rename, stop, delete, audit."""

from chat.admin import ledger, records, sessions

__all__ = ["ledger", "records", "sessions"]
