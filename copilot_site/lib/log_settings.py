"""How the product logs: one line a record on stderr, without secrets."""

from typing import Any


def logging_of(level: str) -> dict[str, Any]:
    """For Django's LOGGING."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
        },
        "filters": {
            "secrets": {"()": "copilot_site.lib.log_filter.SecretFilter"},
            "health": {"()": "copilot_site.lib.log_filter.HealthFilter"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["secrets"],
            }
        },
        "root": {
            "handlers": ["console"],
            "level": level,
        },
        "loggers": {
            "django.request": {"filters": ["health"]},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "daphne": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }
