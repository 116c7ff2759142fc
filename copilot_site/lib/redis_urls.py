"""One Redis address, seen by three libraries: redis-py, Celery, Channels."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def with_database(url: str, offset: int) -> str:
    """The same server, `offset` databases further: broker and log keep apart."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    if parts.scheme == "unix":
        query["db"] = str(int(query.get("db", "0")) + offset)
        # urlunsplit drops the empty host of unix:///path, so it is written by hand.
        return f"unix://{parts.path}?{urlencode(query)}"
    database = int(parts.path.strip("/") or "0") + offset
    return urlunsplit(parts._replace(path=f"/{database}"))


def for_celery(url: str) -> str:
    """Celery writes socket addresses in its own way; others are the same."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    query = dict(parse_qsl(parts.query))
    return f"redis+socket://{parts.path}?virtual_host={query.get('db', '0')}"
