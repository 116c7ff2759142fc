"""Why a file, or one thread of it, is not imported.

ImportFailed
├── SourceUnreadable   the file as a whole
└── ThreadRefused      one thread; the others are imported
"""

from copilot_site.lib.errors import UserFacingError


class ImportFailed(UserFacingError):
    """Base of all that may be wrong with what is imported."""

    code = "import_failed"


class SourceUnreadable(ImportFailed):
    """The file is no database of GNS3's Copilot, or damaged."""

    code = "import_source_unreadable"


class ThreadRefused(ImportFailed):
    """This thread can't or must not be imported."""

    code = "import_thread_refused"
