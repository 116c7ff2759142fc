"""Login pages that answer 429 to whoever guesses passwords."""

import functools
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from accounts.throttle import LoginThrottled

View = Callable[..., HttpResponseBase]


def throttled(view: View) -> View:
    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except LoginThrottled as error:
            response = render(request, "429.html", {"text": str(error)}, status=429)
            response["Retry-After"] = str(error.retry_after)
            return response

    return wrapped
