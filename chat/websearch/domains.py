"""Which pages may be shown: by domain, its subdomains included."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Domains:
    """Several lists of allowed ones must all agree; a denied one never passes."""

    allowed: Sequence[Sequence[str]] = ()
    denied: Sequence[str] = ()

    def let_through(self, url: str) -> bool:
        host = host_of(url)
        if not host or any(_is_of(host, domain) for domain in self.denied):
            return False
        return all(
            not domains or any(_is_of(host, domain) for domain in domains)
            for domains in self.allowed
        )


def host_of(url: str) -> str:
    """Of an http(s) address, as it is looked up; "" for any other."""
    url = url.strip()
    # A browser would see the host's end elsewhere, and open another page.
    if not url.isprintable() or set(url) & set("\\ "):
        return ""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    return _plain(host) if parts.scheme in ("http", "https") else ""


def _is_of(host: str, domain: str) -> bool:
    domain = _plain(domain.strip().removeprefix("*").lstrip("."))
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _plain(host: str) -> str:
    host = host.lower().rstrip(".")
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host
