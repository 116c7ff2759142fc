"""Why an archive or a backup is refused; nothing has been written then.

ArchiveRefused
├── ArchiveDamaged    not ours, cut short, or changed
└── TargetRefused     sound, but not for this place
"""

from copilot_site.lib.errors import UserFacingError


class ArchiveRefused(UserFacingError):
    """Base of all reasons."""

    code = "archive_refused"


class ArchiveDamaged(ArchiveRefused):
    """The file is not one of ours, or not whole."""

    code = "archive_damaged"


class TargetRefused(ArchiveRefused):
    """The file can't go where it is wanted."""

    code = "archive_target_refused"
