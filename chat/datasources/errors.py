"""What can go wrong between a question and its rows.

DataSourceError
├── UnknownSource        no such source for this person
├── SourceRefused        the address or the role is not one that may be read with
├── SourceUnavailable    the database does not answer, or all its places are taken
├── QueryRefused         not a single harmless SELECT; says why
└── QueryFailed          the database refused or ended it
    └── QueryTooSlow     the time limit
"""

from copilot_site.lib.errors import UserFacingError


class DataSourceError(UserFacingError):
    code = "data_source_error"


class UnknownSource(DataSourceError):
    code = "unknown_data_source"
    status = 404


class SourceRefused(DataSourceError):
    code = "data_source_refused"


class SourceUnavailable(DataSourceError):
    code = "data_source_unavailable"
    status = 503


class QueryRefused(DataSourceError):
    code = "query_refused"
    status = 422


class QueryFailed(DataSourceError):
    code = "query_failed"
    status = 422


class QueryTooSlow(QueryFailed):
    code = "query_too_slow"
