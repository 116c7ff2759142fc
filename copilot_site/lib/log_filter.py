"""No secret in any log line, traceback included."""

import logging

from copilot_site.lib.secret_values import mask

_formatter = logging.Formatter()


class SecretFilter(logging.Filter):
    """Masks the finished message and the traceback of each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = mask(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = mask(record.exc_text)
        return True


class HealthFilter(logging.Filter):
    """That a part is not up yet is the answer of /healthz, not an error of it."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 503
