"""What can go wrong with a GNS3 server, in words that may be shown to anyone.

Gns3Error
├── Gns3Unreachable          no answer, or none in time
├── Gns3VersionUnsupported   a GNS3 server before version 3
├── Gns3BadAnswer            an answer that makes no sense, or an internal error
├── Gns3AuthFailed           user name, password or token refused
│   └── Gns3LoginExpired     a person's own token counts no longer
├── Gns3Forbidden            the user lacks a privilege
├── Gns3ProjectNotOpened     the project is closed
├── Gns3NotFound             no such project, node, port, link or template
└── Gns3Conflict             right request, wrong state
"""

from copilot_site.lib.errors import UserFacingError


class Gns3Error(UserFacingError):
    """Any failure of a call to a GNS3 server."""

    code = "gns3_error"
    status = 502


class Gns3Unreachable(Gns3Error):
    """No answer, or none in time."""

    code = "gns3_unreachable"


class Gns3VersionUnsupported(Gns3Error):
    """The server speaks only the API before version 3."""

    code = "gns3_version_unsupported"


class Gns3BadAnswer(Gns3Error):
    """The answer is not that of a working GNS3 server."""

    code = "gns3_bad_answer"


class Gns3AuthFailed(Gns3Error):
    """User name, password or token refused."""

    code = "gns3_auth_failed"


class Gns3LoginExpired(Gns3AuthFailed):
    """A person's own token, which nobody can renew here, is refused or expired."""

    code = "gns3_login_expired"
    status = 401


class Gns3Forbidden(Gns3Error):
    """The GNS3 user lacks a privilege."""

    code = "gns3_forbidden"
    status = 403


class Gns3ProjectNotOpened(Gns3Error):
    """The project is closed; its nodes can be neither read nor changed."""

    code = "project_not_opened"
    status = 403


class Gns3NotFound(Gns3Error):
    """No such project, node, port, link or template."""

    code = "gns3_not_found"
    status = 404


class Gns3Conflict(Gns3Error):
    """The request does not fit the present state of the lab."""

    code = "gns3_conflict"
    status = 409
