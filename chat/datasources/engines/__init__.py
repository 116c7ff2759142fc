"""One file an engine: what it holds, and the rows of a checked query."""

from chat.datasources.address import POSTGRESQL, SQLITE
from chat.datasources.engines import postgresql, sqlite
from chat.datasources.engines.base import Engine

ENGINES: dict[str, Engine] = {
    POSTGRESQL: postgresql.PostgreSQL(),
    SQLITE: sqlite.SQLite(),
}
