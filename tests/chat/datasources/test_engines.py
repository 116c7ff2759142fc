"""What the engines themselves refuse, cut and end, without and beyond the guard."""

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from chat.datasources.cells import Limits
from chat.datasources.engines import ENGINES
from chat.datasources.engines import sqlite as sqlite_engine
from chat.datasources.errors import (
    DataSourceError,
    QueryFailed,
    QueryTooSlow,
    SourceRefused,
    SourceUnavailable,
)
from chat.datasources.guard import Checked
from chat.datasources.tables import Table
from chat.datasources.threads import Cancel
from tests.chat.datasources.conftest import (
    LIMITS,
    Cluster,
    reads,
    sqlite_url,
    target,
)

BOMB = (
    "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n) "
    "SELECT count(*) FROM n"
)


def unchecked(url: str, sql: str, *tables: str) -> list[list[object]]:
    """As if the guard had let anything through."""
    aim = target(url)
    query = Checked(sql, tuple(Table(name, ()) for name in tables))
    return ENGINES[aim.address.engine].read(aim, query, Cancel()).rows


def test_rows_come_back_with_their_columns(shop: str) -> None:
    found = reads(
        target(shop),
        "SELECT p.name, sum(s.quantity) AS pieces FROM products p "
        "JOIN stock s ON s.product_id = p.id GROUP BY p.name ORDER BY pieces DESC",
    )

    assert found.columns == ["name", "pieces"]
    assert found.rows == [["Patch cable", 250], ["Switch 24", 10], ["Router X", 2]]
    assert not found.is_truncated


def test_two_columns_may_have_one_name(shop: str) -> None:
    found = reads(target(shop), "SELECT a.name, b.name FROM products a, locations b")

    assert found.columns == ["name", "name"]
    assert len(found.rows) == 6


def test_a_like_pattern_is_taken_literally(shop: str) -> None:
    found = reads(target(shop), "SELECT name FROM products WHERE name LIKE 'Sw%24'")

    assert found.rows == [["Switch 24"]]


def test_the_catalogue_tells_types_keys_and_references(shop: str) -> None:
    aim = target(shop)
    catalogue = ENGINES[aim.address.engine].catalogue(aim)

    names = {table.name: table for table in catalogue.tables}
    stock = {column.name: column for column in names["stock"].columns}
    assert stock["product_id"].refers_to == "products.id"
    assert "int" in stock["quantity"].type
    assert names["cheap"].is_view
    assert names["products"].columns[0].is_key


def test_only_allowed_tables_are_told_and_read(shop: str) -> None:
    aim = target(shop, allowed="products\ncheap")
    catalogue = ENGINES[aim.address.engine].catalogue(aim)

    assert [table.name for table in catalogue.tables] == ["cheap", "products"]
    assert reads(aim, "SELECT * FROM cheap").rows == [["Patch cable", 4.5]]
    with pytest.raises(DataSourceError):
        reads(aim, "SELECT * FROM stock")


def test_rows_end_at_the_cap_and_say_so(shop: str) -> None:
    aim = target(shop, limits=Limits(rows=2, length=15_000, seconds=10))

    found = reads(aim, "SELECT id FROM products ORDER BY id")
    exact = reads(aim, "SELECT id FROM locations ORDER BY id")

    assert (found.rows, found.is_truncated) == ([[1], [2]], True)
    assert (exact.rows, exact.is_truncated) == ([[1], [2]], False)


def test_characters_end_at_the_cap_and_say_so(shop: str) -> None:
    aim = target(shop, limits=Limits(rows=100, length=1_000, seconds=10))

    found = reads(
        aim,
        "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n WHERE a < 90)"
        " SELECT 'a text of thirty characters ..' FROM n",
    )

    assert found.is_truncated
    assert 10 < len(found.rows) < 40


def test_a_recursion_without_end_is_ended(shop: str) -> None:
    aim = target(shop, limits=Limits(rows=10, length=15_000, seconds=0.5))

    with pytest.raises(QueryTooSlow, match="took longer"):
        reads(aim, BOMB)
    assert reads(aim, "SELECT 1").rows == [[1]]


def test_who_cancels_ends_the_query_at_once(shop: str) -> None:
    cancel = Cancel()
    aim = target(shop, limits=Limits(rows=10, length=15_000, seconds=60))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            reads(aim, BOMB, cancel)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + 20
    while thread.is_alive():
        cancel.now()
        thread.join(0.05)
        assert time.monotonic() < deadline, "it does not end"
    assert isinstance(failed[0], QueryTooSlow)


def test_the_databases_own_complaint_is_told(shop: str) -> None:
    with pytest.raises(QueryFailed, match="nothing"):
        reads(target(shop), "SELECT nothing FROM products")


# --- SQLite: the engine asks before it does anything ------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM products",
        "INSERT INTO products VALUES (9, 'x', 'y', 1)",
        "DROP TABLE products",
        "ATTACH ':memory:' AS other",
        "PRAGMA query_only = OFF",
        "PRAGMA table_info(products)",
        "SELECT load_extension('x')",
        "SELECT zeroblob(1000000)",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM secret",
        "SELECT (SELECT word FROM secret) FROM products",
        "SELECT count(*) FROM secret",
        "WITH x AS (SELECT word FROM secret) SELECT * FROM x",
        "SELECT * FROM pragma_table_info('products')",
        "SELECT 1 FROM products WHERE EXISTS (SELECT 1 FROM secret WHERE word > 'a')",
        "CREATE TEMP TABLE x (a)",
        "VACUUM INTO '/tmp/never-written.sqlite'",
        "SELECT 1; SELECT 2",
    ],
)
def test_sqlite_refuses_what_a_guard_might_miss(shop_file: Path, sql: str) -> None:
    before = shop_file.read_bytes()

    with pytest.raises((QueryFailed, sqlite3.Warning)):
        unchecked(sqlite_url(shop_file), sql, "products")

    assert shop_file.read_bytes() == before
    assert not Path("/tmp/never-written.sqlite").exists()


def test_sqlite_reads_a_file_of_a_mean_name(shop_file: Path) -> None:
    mean = shop_file.with_name("a?mode=rw&b #%41.sqlite")
    shop_file.rename(mean)

    assert reads(target(sqlite_url(mean)), "SELECT 1").rows == [[1]]


def test_sqlite_values_of_any_kind_become_json(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE odd (a)")
        connection.executemany(
            "INSERT INTO odd VALUES (?)",
            [(None,), (b"\0\1",), (2**60,), (float("inf"),), (1.5,), ("a\0b\x1b",)],
        )
        connection.execute("INSERT INTO odd VALUES (CAST(x'ff41' AS TEXT))")
    connection.close()

    rows = reads(target(sqlite_url(path)), "SELECT a FROM odd").rows

    assert [cell for (cell,) in rows] == [
        None, "<2 bytes>", str(2**60), "inf", 1.5, "a�b�", "�A",
    ]  # fmt: skip


def test_sqlite_holds_no_more_than_a_row_of_long_values(tmp_path: Path) -> None:
    path = tmp_path / "long.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE long (a)")
        connection.executemany(
            "INSERT INTO long VALUES (?)", [(letter * 5_000_000,) for letter in "abc"]
        )
    connection.close()

    found = reads(target(sqlite_url(path)), "SELECT a FROM long")

    assert [len(str(cell)) for (cell,) in found.rows] == [2_000] * 3
    assert found.has_cut_cells


def test_sqlite_reads_a_few_of_a_million_rows(tmp_path: Path) -> None:
    path = tmp_path / "many.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE many AS WITH RECURSIVE n AS (SELECT 1 AS a "
            "UNION ALL SELECT a + 1 FROM n WHERE a < 1000000) SELECT a FROM n"
        )
    connection.close()

    found = reads(target(sqlite_url(path)), "SELECT * FROM many")

    assert len(found.rows) == LIMITS.rows
    assert found.is_truncated


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(DataSourceError):
        reads(target(sqlite_url(path)), "SELECT a FROM b")


def test_a_column_that_does_not_exist_is_told_and_never_taken_for_text(
    shop: str,
) -> None:
    for sql in (
        'SELECT "prize" FROM products',
        "SELECT name FROM products WHERE \"categroy\" = 'switch'",
    ):
        with pytest.raises(QueryFailed, match="column"):
            reads(target(shop), sql)


def test_a_name_of_a_column_may_hold_any_sign(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    names = ["group", "a b", 'qu"ote', "tick`", "br]", "Größe"]
    with sqlite3.connect(path) as connection:
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        connection.execute(f'CREATE TABLE "order" ({columns})')
    connection.close()

    found = reads(target(sqlite_url(path)), f'SELECT {columns} FROM "order"')

    assert found.columns == names


def test_names_and_cells_hold_no_orders_to_a_terminal_or_page(shop: str) -> None:
    odd = "a\x1b[31m\x9b\u202ez"

    found = reads(target(shop), f"SELECT '{odd}' AS \"{odd}\"")

    assert found.columns == ["a�[31m��z"]
    assert found.rows == [["a�[31m��z"]]


def test_a_column_without_a_name_has_a_short_one(shop_file: Path) -> None:
    found = reads(target(sqlite_url(shop_file)), f"SELECT {' + '.join(['id'] * 99)}"
        " FROM products LIMIT 1")  # fmt: skip

    assert len(found.columns[0]) <= 100


def test_one_broken_view_keeps_no_table_from_being_read(shop_file: Path) -> None:
    with sqlite3.connect(shop_file) as connection:
        connection.executescript(
            "CREATE VIEW broken AS SELECT * FROM stock_of_old; "
            "CREATE VIRTUAL TABLE words USING fts5(body); "
            "CREATE TABLE twice (a INT, b INT GENERATED ALWAYS AS (a * 2))"
        )
    connection.close()

    tables = {
        table.name: [column.name for column in table.columns]
        for table in ENGINES["sqlite"].catalogue(target(sqlite_url(shop_file))).tables
    }

    assert {"products", "stock"} < set(tables)
    assert tables["twice"] == ["a", "b"]
    assert not {name for name in tables if name.startswith(("broken", "words"))}


def test_a_file_that_another_program_writes_is_told_to_be_busy(
    shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.datasources.engines.sqlite._BUSY_SECONDS", 0.0)
    writer = sqlite3.connect(shop_file, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")

    with pytest.raises(SourceUnavailable, match="writing"):
        reads(target(sqlite_url(shop_file)), "SELECT name FROM products")

    writer.close()


def test_a_file_in_wal_mode_is_read_where_nothing_can_be_written(
    shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(shop_file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    connect = sqlite_engine._connect

    def on_read_only_media(path: Path, options: str) -> sqlite3.Connection:
        # Root, as whom tests may run, can write in any folder.
        if "immutable" in options:
            return connect(path, options)
        error = sqlite3.OperationalError("attempt to write a readonly database")
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DIRECTORY
        raise error

    monkeypatch.setattr(sqlite_engine, "_connect", on_read_only_media)

    assert reads(target(sqlite_url(shop_file)), "SELECT id FROM locations").rows


# --- PostgreSQL: a role without rights, a transaction that only reads -------------


@pytest.mark.needs("postgres")
@pytest.mark.parametrize(
    "sql",
    [
        "WITH x AS (DELETE FROM public.stock RETURNING *) SELECT * FROM x",
        "DELETE FROM public.stock",
        "SELECT * INTO public.x FROM public.products",
        "SELECT * FROM public.products FOR UPDATE",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_create(0)",
        "SELECT * FROM public.secret",
        "SELECT 1) AS q; DELETE FROM public.stock; SELECT * FROM (SELECT 1",
        "COPY public.products TO '/tmp/x'",
        "SELECT rolpassword FROM pg_authid",
    ],
)
def test_postgresql_refuses_what_a_guard_might_miss(cluster: Cluster, sql: str) -> None:
    before = cluster.counts()

    with pytest.raises((QueryFailed, SourceUnavailable)):
        unchecked(cluster.url(), sql)

    assert cluster.counts() == before
    assert reads(target(cluster.url()), "SELECT 1").rows == [[1]]


@pytest.mark.needs("postgres")
def test_even_a_role_that_may_write_writes_nothing(cluster: Cluster) -> None:
    cluster.run(
        "CREATE ROLE writer LOGIN",
        "GRANT USAGE, CREATE ON SCHEMA public TO writer",
        "GRANT SELECT, DELETE ON ALL TABLES IN SCHEMA public TO writer",
    )
    before = cluster.counts()

    for sql in (
        "WITH x AS (DELETE FROM public.stock RETURNING *) SELECT * FROM x",
        "SELECT * INTO public.x FROM public.products",
        "SELECT 1) AS q; DELETE FROM public.stock; SELECT * FROM (SELECT 1",
    ):
        with pytest.raises(QueryFailed):
            unchecked(cluster.url("writer"), sql)

    assert cluster.counts() == before
    warnings = ENGINES["postgresql"].warnings(target(cluster.url("writer")))
    assert "may change tables: public.cheap, public.locations" in warnings[0]
    assert "may create in: public" in warnings[1]
    assert ENGINES["postgresql"].warnings(target(cluster.url())) == []


@pytest.mark.needs("postgres")
@pytest.mark.parametrize(
    "right", ["SUPERUSER", "CREATEROLE", "REPLICATION", "pg_read_server_files"]
)
def test_a_powerful_role_is_refused(cluster: Cluster, right: str) -> None:
    role = f"with_{right.lower()}"
    option, group = ("", right) if right.startswith("pg_") else (right, "")
    cluster.run(
        f"CREATE ROLE {role} LOGIN {option}",
        f"GRANT {group} TO {role}" if group else "SELECT 1",
        f"GRANT USAGE ON SCHEMA public TO {role}",
    )

    with pytest.raises(SourceRefused, match="more than read"):
        reads(target(cluster.url(role)), "SELECT 1")


@pytest.mark.needs("postgres")
def test_no_function_of_a_schema_takes_the_place_of_a_built_in_one(
    cluster: Cluster,
) -> None:
    cluster.run(
        "CREATE OR REPLACE FUNCTION public.lower(varchar) RETURNS text LANGUAGE sql "
        "AS $$ SELECT 'planted' $$"
    )

    found = reads(
        target(cluster.url()), "SELECT lower(CAST(name AS varchar(9))) FROM products"
    )

    assert ["planted"] not in found.rows


@pytest.mark.needs("postgres")
def test_postgresql_cuts_long_values_before_it_sends_them(cluster: Cluster) -> None:
    cluster.run(
        "CREATE TABLE IF NOT EXISTS long AS SELECT repeat('x', 5000000) AS a, "
        "convert_to(repeat('y', 5000000), 'UTF8') AS b, "
        "ARRAY[repeat('z', 5000000)] AS c FROM generate_series(1, 3)",
        "GRANT SELECT ON long TO reader",
    )

    found = reads(target(cluster.url()), "SELECT * FROM long")

    assert [len(str(cell)) for cell in found.rows[0]] == [2_000, 15, 2_000]
    assert found.rows[2][1] == "<5000000 bytes>"


@pytest.mark.needs("postgres")
def test_postgresql_reads_a_few_of_a_million_rows(cluster: Cluster) -> None:
    cluster.run(
        "CREATE TABLE IF NOT EXISTS many AS SELECT generate_series(1, 1000000) AS a",
        "GRANT SELECT ON many TO reader",
    )

    found = reads(target(cluster.url()), "SELECT * FROM many")

    assert len(found.rows) == LIMITS.rows
    assert found.is_truncated


@pytest.mark.needs("postgres")
def test_postgresql_values_of_any_kind_become_json(cluster: Cluster) -> None:
    cluster.run(
        "CREATE TABLE IF NOT EXISTS odd AS SELECT 1.10::numeric AS a, "
        "'NaN'::float8 AS b, 'NaN'::numeric AS c, date '2026-01-31' AS d, "
        "timestamptz '2026-01-31 10:00+00' AS e, interval '1 day 2 hours' AS f, "
        "'{\"k\": 1}'::jsonb AS g, ARRAY[1, 2] AS h, inet '10.0.0.1/24' AS i, "
        "12345678901234567890.5::numeric AS j, true AS k, "
        "'6f1b0f3e-0000-4000-8000-000000000001'::uuid AS l, null AS m",
        "GRANT SELECT ON odd TO reader",
    )

    (row,) = reads(target(cluster.url()), "SELECT * FROM odd").rows

    assert row[:4] == [1.1, "nan", "NaN", "2026-01-31"]
    assert row[4] == "2026-01-31 10:00:00+00"
    assert row[5:10] == [
        "1 day 02:00:00", '{"k": 1}', "{1,2}", "10.0.0.1/24", "12345678901234567890.5",
    ]  # fmt: skip
    assert row[10:] == [True, "6f1b0f3e-0000-4000-8000-000000000001", None]


@pytest.mark.needs("postgres")
def test_a_database_without_an_encoding_is_read(cluster: Cluster) -> None:
    cluster.run(
        "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'",
        database="postgres",
    )
    cluster.run(
        "CREATE TABLE texts AS SELECT E'caf\\303\\251'::text AS a",
        "GRANT SELECT ON texts TO reader",
        database="ascii",
    )

    assert reads(target(cluster.url(database="ascii")), "SELECT a FROM texts").rows == [
        ["café"]
    ]


@pytest.mark.needs("postgres")
def test_times_that_python_does_not_know_are_told_as_the_database_writes_them(
    cluster: Cluster,
) -> None:
    (row,) = reads(
        target(cluster.url()),
        "SELECT 'infinity'::timestamp, '-infinity'::date, '4713-01-01 BC'::date, "
        "'294276-01-01'::timestamptz, '24:00'::time, interval '1 year 2 months -3 days'"
    ).rows  # fmt: skip

    assert row == [
        "infinity", "-infinity", "4713-01-01 BC", "294276-01-01 00:00:00+00",
        "24:00:00", "1 year 2 mons -3 days",
    ]  # fmt: skip


@pytest.mark.needs("postgres")
@pytest.mark.parametrize(
    "expression",
    [
        "date_trunc('month', d)", "extract(year from d)", "date_part('month', d)",
        "to_char(d, 'YYYY-MM')", "to_char(d, 'Day, DD Mon YYYY HH24:MI:SS')",
        "to_char(n, 'FM9G990D00')", "to_date('03.02.2026', 'DD.MM.YYYY')",
        "d + interval '1 month'", "age(d, d - interval '1 day')", "n % 7", "n / 2",
        "round(n, 1)", "concat(t, ' ', n)", "concat_ws('-', t, n)", "t || 'x'",
        "position('b' in t)", "substring(t from 2 for 2)", "strpos(t, 'c')",
        "left(t, 2)", "right(t, 2)", "split_part('a-b', '-', 2)", "initcap(t)",
        "t ~ 'a.c'", "t !~* 'X'", "t ILIKE 'A%'", "t SIMILAR TO 'a%'", "trim(t)",
        "btrim(' x ')", "replace(t, 'a', 'b')", "n BETWEEN 1 AND 99", "NOT n IS NULL",
        "n = ANY(ARRAY[1, 2])", "coalesce(null, n)", "nullif(n, 1)", "greatest(n, 1)",
        "log(100)", "log(2, 8)", "ln(2)", "power(n, 2)", "div(n, 2)", "trunc(n, 1)",
        "j ->> 'k'", "j -> 'l' ->> 0", "j #>> '{l,1}'", "j @> '{\"k\": 1}'",
        "host(i)", "masklen(i)", "network(i)", "md5(t)", "reverse(t)",
        "d AT TIME ZONE 'UTC'",
        "CAST(n AS varchar(3))", "n::int", "regexp_replace(t, 'b', 'x', 'g')",
        "d::date IS DISTINCT FROM date '2026-01-01'", "make_date(2026, 1, 31)",
        "width_bucket(n, 0, 100, 4)", "to_number('12.5', '99D9')", "sign(-n)",
    ],
)  # fmt: skip
def test_what_is_written_anew_means_the_same_to_postgresql(
    cluster: Cluster, expression: str
) -> None:
    cluster.run(
        "CREATE TABLE IF NOT EXISTS same AS SELECT "
        "timestamp '2026-02-03 04:05:06' AS d, 12.345 AS n, 'abc' AS t, "
        '\'{"k": 1, "l": [1, 2]}\'::jsonb AS j, '
        "inet '10.1.2.3/16' AS i",
        "GRANT SELECT ON same TO reader",
    )
    sql = f"SELECT CAST({expression} AS text) AS a FROM same"

    ours = reads(target(cluster.url()), sql).rows
    theirs = unchecked(cluster.url(), sql.replace("FROM same", "FROM public.same"))

    assert ours == theirs


@pytest.mark.parametrize(
    "expression",
    [
        "strftime('%Y-%m', d)", "date(d, 'start of month')", "julianday(d)",
        "datetime(d, '+1 day')", "substr(t, 2)", "substr(t, -2, 1)", "instr(t, 'b')",
        "ifnull(null, n)", "iif(n > 1, 'a', 'b')", "n / 2", "7 / 2", "n % 5", "t || n",
        "max(n, 3)", "min(n, 3)", "round(n)", "CAST(n AS INTEGER)", "t LIKE 'A%'",
        "t GLOB 'a*'", "typeof(n)", "total(n)", "group_concat(t, ';')", "trim(t, 'a')",
        "unicode(t)", "json_extract(j, '$.k')", "j ->> 'k'", "j -> '$.l'", "n IS NOT 1",
        "t COLLATE NOCASE = 'ABC'", "lower(t)", "length(t)", "abs(-n)",
        "coalesce(null, 1)",
        "unixepoch(d)", "strftime('%w', d, '+1 day')", "~1", "6 & 3", "1 << 2",
    ],
)  # fmt: skip
def test_what_is_written_anew_means_the_same_to_sqlite(
    tmp_path: Path, expression: str
) -> None:
    path = tmp_path / "same.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE same AS SELECT '2026-02-03 04:05:06' AS d, 12.345 AS n, "
            "'abc' AS t, '{\"k\": 1, \"l\": [1, 2]}' AS j"
        )
        theirs = connection.execute(f"SELECT {expression} FROM same").fetchall()
    connection.close()

    ours = reads(target(sqlite_url(path)), f"SELECT {expression} FROM same").rows

    assert ours == [list(row) for row in theirs]


# --- Connections ----------------------------------------------------------------


@pytest.mark.needs("postgres")
def test_connections_are_given_back_also_after_errors(cluster: Cluster) -> None:
    aim = target(cluster.url(), limits=Limits(rows=5, length=5_000, seconds=5.5))
    engine = ENGINES["postgresql"]

    for _ in range(12):
        with pytest.raises(QueryFailed):
            reads(aim, "SELECT nothing FROM products")
        with pytest.raises(QueryFailed):
            reads(aim, "SELECT 1 / (id - id) FROM products")
        assert reads(aim, "SELECT 1").rows == [[1]]

    pool = engine._pool(aim)  # type: ignore[attr-defined] # of PostgreSQL alone
    assert pool.idle_count == 1
    assert set(cluster.activity()) <= {"idle"}


@pytest.mark.needs("postgres")
def test_a_connection_that_the_server_ended_is_replaced(cluster: Cluster) -> None:
    aim = target(cluster.url(), limits=Limits(rows=5, length=5_000, seconds=6.5))
    assert reads(aim, "SELECT 1").rows == [[1]]

    cluster.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'copilot data source'"
    )

    assert reads(aim, "SELECT 1").rows == [[1]]


def test_a_server_that_does_not_answer_is_told_without_its_address() -> None:
    aim = target("postgresql://reader:a-long-password@127.0.0.1:9/shop")

    with pytest.raises(SourceUnavailable) as caught:
        reads(aim, "SELECT 1")

    assert "127.0.0.1" not in str(caught.value)
    assert "password" not in str(caught.value)
