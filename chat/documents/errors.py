"""Why a file is not taken, or cannot be read; each safe to show."""

from copilot_site.lib.errors import Conflict, UserFacingError


class DocumentRefused(UserFacingError):
    code = "document_refused"
    status = 422


class DocumentTooLarge(DocumentRefused):
    code = "document_too_large"
    status = 413


class DocumentKindUnknown(DocumentRefused):
    code = "document_kind_unknown"
    status = 415


class DocumentUnreadable(DocumentRefused):
    """Of a kind that we read, but this one can't be."""

    code = "document_unreadable"


class TooManyDocuments(Conflict):
    code = "too_many_documents"
