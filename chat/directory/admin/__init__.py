"""The directory in the admin."""

from chat.directory.admin.imports import RecordImportAdmin
from chat.directory.admin.records import RecordAdmin, RecordKindAdmin

__all__ = ["RecordAdmin", "RecordImportAdmin", "RecordKindAdmin"]
