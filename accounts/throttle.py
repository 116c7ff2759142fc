"""Failed logins are counted per name and address; too many, and both have to wait."""

import hashlib
import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.cache import BaseCache, caches
from django.http import HttpRequest
from django.utils.translation import ngettext
from redis.exceptions import RedisError

from copilot_site.lib.errors import UserFacingError

logger = logging.getLogger(__name__)


class LoginThrottled(UserFacingError):
    code = "login_throttled"
    status = 429

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            ngettext(
                "Too many failed logins. Try again in %(count)d second.",
                "Too many failed logins. Try again in %(count)d seconds.",
                retry_after,
            )
            % {"count": retry_after}
        )
        self.retry_after = retry_after


class ThrottledBackend(ModelBackend):
    """Django's own check of passwords, for the page, the admin and the API alike."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Raises LoginThrottled, also for names that nobody has."""
        if request is None or username is None:
            return super().authenticate(request, username, password, **kwargs)
        key = _key(username, address_of(request))
        # Counted before the check: a hundred at once must not all be looked at.
        _with_cache(lambda cache: _count(cache, key))
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            _with_cache(lambda cache: cache.delete(key))
        return user


def address_of(request: HttpRequest) -> str:
    """The client's; behind a proxy that we trust, the one which that proxy saw."""
    if settings.TRUSTED_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if seen := forwarded.rpartition(",")[2].strip():
            return str(seen)
    return str(request.META.get("REMOTE_ADDR") or "")


def _key(username: str, address: str) -> str:
    both = f"{username.casefold()}\0{address}"
    return f"login:{hashlib.sha256(both.encode()).hexdigest()}"


def _count(cache: BaseCache, key: str) -> None:
    seconds = settings.LOGIN_FAILURE_SECONDS
    if cache.add(key, 1, seconds):
        cache.set(f"{key}:until", time.time() + seconds, seconds)
        return
    try:
        attempts = cache.incr(key)
    except ValueError:
        # It expired in between.
        return
    if attempts > settings.LOGIN_FAILURES:
        until = cache.get(f"{key}:until") or time.time() + seconds
        raise LoginThrottled(max(1, round(until - time.time())))


def _with_cache(act: Callable[[BaseCache], object]) -> None:
    """All web processes count together; without Redis, each for itself."""
    try:
        act(caches["default"])
    except (RedisError, OSError) as error:
        logger.warning("Logins are counted here alone: %s", type(error).__name__)
        act(caches["local"])
