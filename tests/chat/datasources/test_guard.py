"""Which texts pass as one harmless SELECT, and what is said of the others."""

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.datasources.errors import QueryRefused
from chat.datasources.grammar import DIALECTS
from chat.datasources.guard import check
from chat.datasources.tables import Catalogue, Column, Table

ENGINES = ["postgresql", "sqlite"]
NAMES = frozenset({"products", "stock", "secret", "orders"})


def catalogue(engine: str) -> Catalogue:
    schema = "public" if engine == "postgresql" else ""
    tables = [
        Table(name, (Column("a", "int"),), schema) for name in ("products", "stock")
    ]
    if engine == "postgresql":
        tables += [Table("orders", (), "sales"), Table("orders", (), "archive")]
    return Catalogue(tuple(tables), NAMES)


def passes(sql: str, engine: str) -> str:
    return check(sql, engine=engine, catalogue=catalogue(engine)).sql


def refusal(sql: str, engine: str) -> str:
    with pytest.raises(QueryRefused) as caught:
        passes(sql, engine)
    assert caught.value.code == "query_refused"
    return str(caught.value)


# Each with a word that its refusal must hold.
REFUSED = [
    # Writing, however it is wrapped.
    ("WITH x AS (DELETE FROM products RETURNING *) SELECT * FROM x", "DELETE"),
    ("WITH x AS (INSERT INTO products VALUES (1) RETURNING a) SELECT 1", "INSERT"),
    ("WITH x AS (UPDATE products SET a = 1 RETURNING a) SELECT * FROM x", "UPDATE"),
    ("DELETE FROM products", "DELETE"),
    ("/* select */ DELETE FROM products -- select", "DELETE"),
    ("INSERT INTO products SELECT * FROM products", "INSERT"),
    ("UPDATE products SET a = 1", "UPDATE"),
    ("DROP TABLE products", "DROP"),
    ("CREATE TABLE x AS SELECT * FROM products", "CREATE"),
    ("ALTER TABLE products ADD b int", "ALTER"),
    ("TRUNCATE products", "SELECT"),
    ("MERGE INTO products USING stock ON true WHEN MATCHED THEN DELETE", "MERGE"),
    ("VACUUM", "SELECT"),
    ("EXPLAIN SELECT 1", "SELECT"),
    ("EXPLAIN ANALYZE DELETE FROM products", "SELECT"),
    ("BEGIN", "SELECT"),
    ("SET ROLE postgres", "SELECT"),
    ("GRANT ALL ON products TO public", "SELECT"),
    ("CALL f()", "SELECT"),
    ("VALUES (1)", "SELECT"),
    # Several statements.
    ("SELECT 1; SELECT 2", "exactly one"),
    ("SELECT 1; DROP TABLE products", "exactly one"),
    ("SELECT 1 -- ;\n; DROP TABLE products", "exactly one"),
    ("SELECT 1 /* ; */; DELETE FROM products", "exactly one"),
    ("", "exactly one"),
    (" ; ; ", "exactly one"),
    ("-- nothing", "exactly one"),
    # Reading what is no table of the source.
    ("SELECT * FROM secret", "no table"),
    ("SELECT (SELECT a FROM secret)", "no table"),
    ("SELECT 1 FROM products WHERE EXISTS (SELECT 1 FROM secret)", "no table"),
    ("SELECT * FROM products UNION SELECT * FROM secret", "no table"),
    ("WITH x AS (SELECT * FROM secret) SELECT * FROM x", "no table"),
    ("WITH secret AS (SELECT 1 AS a) SELECT * FROM secret", "another name"),
    (
        "SELECT * FROM secret, (WITH secret AS (SELECT 1 AS a) SELECT a FROM secret) x",
        "another name",
    ),
    ("SELECT * FROM a.b.c", "schema and name"),
    ("SELECT * FROM 'secret'", "no table"),
    # Functions that are not known to be harmless.
    ("SELECT pg_read_file('/etc/passwd')", "pg_read_file"),
    ("SELECT PG_READ_FILE('/etc/passwd')", "pg_read_file"),
    ("SELECT \"pg_read_file\"('/etc/passwd')", "pg_read_file"),
    ("SELECT * FROM pg_read_file('/etc/passwd')", "pg_read_file"),
    ("SELECT lo_import('/etc/passwd')", "lo_import"),
    ("SELECT lo_export(1, '/tmp/x')", "lo_export"),
    ("SELECT pg_sleep(60)", "pg_sleep"),
    ("SELECT 1 LIMIT pg_sleep(60)", "pg_sleep"),
    ("SELECT a FROM products ORDER BY pg_sleep(60)", "pg_sleep"),
    ("SELECT a FROM products GROUP BY a HAVING pg_sleep(1) IS NULL", "pg_sleep"),
    (
        "SELECT sum(pg_sleep(1)) OVER (PARTITION BY pg_sleep(1)) FROM products",
        "pg_sleep",
    ),
    ("SELECT CASE WHEN true THEN pg_sleep(60) END", "pg_sleep"),
    ("SELECT * FROM dblink('host=x', 'select 1')", "dblink"),
    ("SELECT set_config('transaction_read_only', 'off', false)", "set_config"),
    ("SELECT current_setting('data_directory')", "current_setting"),
    ("SELECT query_to_xml('delete from products', true, true, '')", "query_to_xml"),
    ("SELECT pg_terminate_backend(1)", "pg_terminate_backend"),
    ("SELECT nextval('products_id_seq')", "nextval"),
    ("SELECT repeat('x', 1000000000)", "repeat"),
    ("SELECT * FROM generate_series(1, 1000000000)", "generate_series"),
    ("SELECT load_extension('x.so')", "load_extension"),
    ("SELECT readfile('/etc/passwd')", "readfile"),
    ("SELECT writefile('/tmp/x', 'y')", "writefile"),
    ("SELECT randomblob(1000000000)", "randomblob"),
    ("SELECT zeroblob(1000000000)", "zeroblob"),
    ("SELECT edit('x')", "edit"),
    ("SELECT unknown_function(1)", "unknown_function"),
    ("SELECT pg_catalog.lower('X')", "schema"),
    # Nonsense.
    ("hello", "SELECT"),
    ("SELECT FROM WHERE", "not run"),
    ("SELECT 1\0; DROP TABLE products", "not run"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "not run"),
    ("SELECT " + "1 + " * 4_000 + "1", "characters"),
]
OF_POSTGRESQL = [
    ("SELECT * INTO copy FROM products", "INTO"),
    ("SELECT * FROM products FOR UPDATE", "FOR UPDATE"),
    ("SELECT * FROM products FOR SHARE SKIP LOCKED", "FOR UPDATE"),
    ("SELECT * FROM (SELECT * FROM products FOR UPDATE) AS x", "FOR UPDATE"),
    ("COPY products TO '/tmp/x'", "SELECT"),
    ("COPY products TO PROGRAM 'id'", "SELECT"),
    ("DO $$ BEGIN END $$", "SELECT"),
    ("TABLE secret", "no table"),
    ("SELECT * FROM pg_authid", "no table"),
    ("SELECT * FROM pg_catalog.pg_shadow", "no table"),
    ("SELECT * FROM information_schema.tables", "no table"),
    ("WITH pg_class AS (SELECT 1) SELECT * FROM pg_class", "another name"),
    ("SELECT * FROM orders", "name its schema"),
    ("SELECT 'products'::regclass", "catalogue"),
    ("SELECT CAST('x' AS xml)", "conversion"),
    ("SELECT 'a' OPERATOR(pg_catalog.||) 'b'", "schema"),
    ("SELECT $1", "parameters"),
    ("SELECT E'\\' OR 1=1'", "plain quotes"),
    ("SELECT $$a$$", "plain quotes"),
    ("SELECT U&'d\\0061t'", "plain quotes"),
    ("SELECT user", "double quotes"),
    ("SELECT a FROM products WHERE current_role = 'x'", "double quotes"),
    ("SELECT 1 FROM products TABLESAMPLE SYSTEM (10)", "TABLESAMPLE"),
    ("SELECT 1 FROM products, LATERAL (SELECT pg_sleep(9)) AS x", "pg_sleep"),
]
OF_SQLITE = [
    ("PRAGMA writable_schema = 1", "SELECT"),
    ("ATTACH 'x.db' AS y", "SELECT"),
    ("SELECT * FROM pragma_table_info('products')", "pragma_table_info"),
    ("SELECT * FROM json_each('[1]')", "json_each"),
    ("SELECT * FROM sqlite_master", "no table"),
    ("SELECT * FROM sqlite_schema", "no table"),
    ("SELECT * FROM temp.products", "no database"),
    ("WITH sqlite_master AS (SELECT 1) SELECT * FROM sqlite_master", "another name"),
    ("SELECT fts3_tokenizer('x')", "fts3_tokenizer"),
    ("SELECT printf('%.*c', 1000000000, 'x')", "printf"),
    ("SELECT $1", "double quotes"),
    ("SELECT ?", "parameters"),
    ("SELECT :a", "parameters"),
    ("SELECT x'00'", "plain quotes"),
]
CASES = [
    *((engine, *case) for engine in ENGINES for case in REFUSED),
    *(("postgresql", *case) for case in OF_POSTGRESQL),
    *(("sqlite", *case) for case in OF_SQLITE),
]


@pytest.mark.parametrize(("engine", "sql", "word"), CASES)
def test_it_is_refused_in_words(engine: str, sql: str, word: str) -> None:
    assert word in refusal(sql, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM products",
        "select a from PRODUCTS -- a comment",
        "(SELECT 1)",
        "SELECT products.a, p.a FROM products, products AS p",
        "WITH x AS (SELECT a FROM products), y AS (SELECT a FROM x) SELECT a FROM y",
        "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n WHERE a < 9) "
        "SELECT a FROM n",
        "SELECT a FROM products UNION ALL SELECT a FROM stock ORDER BY a LIMIT 5",
        "SELECT count(*), avg(a), round(sum(a), 2) FROM products GROUP BY a HAVING "
        "count(*) > 1",
        "SELECT p.a FROM products AS p LEFT JOIN stock AS s ON s.a = p.a "
        "WHERE p.a IN (SELECT a FROM stock) AND EXISTS (SELECT 1 FROM stock)",
        "SELECT CASE WHEN a > 1 THEN 'x' ELSE lower('Y') END FROM products",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY a DESC) FROM products",
        "SELECT a FROM products WHERE a LIKE '%; DROP TABLE x; --%'",
        "SELECT a FROM products;",
        "SELECT a FROM products; -- all of them",
    ],
)
def test_an_honest_question_passes(engine: str, sql: str) -> None:
    assert passes(sql, engine)


def test_what_runs_is_written_anew_without_comments_and_with_full_names() -> None:
    written = passes("select a /* ; drop */ from Products -- x", "postgresql")

    assert written == "SELECT a FROM public.products"


def test_a_table_is_found_in_any_case_where_the_engine_finds_it_so() -> None:
    assert "FROM products" in passes("SELECT * FROM Main.PRODUCTS", "sqlite")
    assert "no table" in refusal('SELECT * FROM "PRODUCTS"', "postgresql")


def test_a_refusal_offers_the_tables_that_there_are() -> None:
    assert "Tables: products, stock" in refusal("SELECT * FROM nothing", "sqlite")


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "products",
        "stock",
        "secret",
        "WITH",
        "AS",
        "(",
        ")",
        ",",
        ";",
        "*",
        "a",
        "b",
        "1",
        "'x'",
        '"y"',
        "--",
        "/*",
        "*/",
        "DELETE",
        "INSERT",
        "INTO",
        "UPDATE",
        "SET",
        "DROP",
        "TABLE",
        "UNION",
        "ALL",
        "VALUES",
        "RETURNING",
        "FOR",
        "pg_sleep",
        "load_extension",
        "ATTACH",
        "PRAGMA",
        "COPY",
        "$$",
        "E'",
        "::",
        "[",
        "]",
        "{",
        "}",
        "?",
        "$1",
        "@",
        ".",
        "=",
        "LIMIT",
        "\\",
        "`",
        "LATERAL",
        "pg_read_file(",
        "EXPLAIN",
        "CALL",
        "DO",
        "ONLY",
        "RECURSIVE",
        "regclass",
        "CAST",
        "OPERATOR",
    ]
)


@settings(max_examples=60, deadline=None)
@given(words=st.lists(WORDS, max_size=25), engine=st.sampled_from(ENGINES))
def test_whatever_passes_reads_known_tables_and_reads_the_same_again(
    words: list[str], engine: str
) -> None:
    try:
        written = passes(" ".join(words), engine)
    except QueryRefused:
        return

    assert passes(written, engine) == written
    found = {
        table.name
        for tree in sqlglot.parse(written, dialect=DIALECTS[engine])
        if tree is not None
        for table in tree.find_all(sqlglot.exp.Table)
    }
    assert "secret" not in found
    assert not any(word in written for word in ("DELETE ", "INSERT ", "pg_sleep("))


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=120), engine=st.sampled_from(ENGINES))
def test_any_text_passes_or_is_refused(text: str, engine: str) -> None:
    for sql in (text, f"SELECT {text}", f"SELECT a FROM products WHERE a = '{text}'"):
        try:
            written = passes(sql, engine)
        except QueryRefused:
            continue
        assert passes(written, engine) == written
