"""Where a database is, from an address as SQLAlchemy writes it."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from chat.datasources.errors import SourceRefused
from copilot_site.lib.secret_values import remember

POSTGRESQL, SQLITE = "postgresql", "sqlite"
_SCHEMES = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "postgresql+psycopg": POSTGRESQL,
    "postgresql+psycopg2": POSTGRESQL,
    "sqlite": SQLITE,
}
# What else libpq takes could read files, run services or lift our settings.
_OPTIONS = frozenset(
    {"host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding"}
)
_EXAMPLES = (
    "postgresql://reader:password@db.example.org:5432/shop?sslmode=require or "
    "sqlite:////srv/data/shop.sqlite (four slashes: an absolute path)"
)


@dataclass(frozen=True)
class Address:
    """Either a file, or a host with all that is needed to log in there."""

    engine: str
    path: Path | None = None
    host: str = ""
    port: int = 5432
    database: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    options: tuple[tuple[str, str], ...] = ()

    def shown(self) -> str:
        """Without the password."""
        if self.path is not None:
            return f"sqlite:///{self.path}"
        return f"postgresql://{self.user}@{self.host}:{self.port}/{self.database}"


def parse_address(url: str) -> Address:
    """Raises SourceRefused, in words that repeat nothing of the address."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or 5432
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=False)
    except ValueError:
        raise SourceRefused(f"The address cannot be read. It is {_EXAMPLES}.") from None
    match _SCHEMES.get(parts.scheme.lower()):
        case "sqlite":
            return _file(parts.netloc, parts.path, options)
        case "postgresql":
            known = dict(options)
            if unknown := sorted(set(known) - _OPTIONS):
                raise SourceRefused(
                    f"Not allowed in the address: {', '.join(unknown)}. "
                    f"Allowed: {', '.join(sorted(_OPTIONS))}."
                )
            database = unquote(parts.path.removeprefix("/"))
            if not database:
                raise SourceRefused(f"The address names no database: {_EXAMPLES}.")
            return Address(
                POSTGRESQL,
                host=known.pop("host", "") or unquote(parts.hostname or "localhost"),
                port=_port(known.pop("port", ""), port),
                database=database,
                user=unquote(parts.username or ""),
                password=remember(unquote(parts.password or "")),
                options=tuple(sorted(known.items())),
            )
        case _:
            raise SourceRefused(f"Only PostgreSQL and SQLite can be read: {_EXAMPLES}.")


def _file(host: str, path: str, options: list[tuple[str, str]]) -> Address:
    if host or options or not path.startswith("//"):
        raise SourceRefused(f"A SQLite file is named by its whole path: {_EXAMPLES}.")
    return Address(SQLITE, path=Path(unquote(path[1:])))


def _port(text: str, otherwise: int) -> int:
    return int(text) if text.isdigit() and int(text) < 65536 else otherwise
