"""What a query may be made of, written as SQL: all else is refused.

The guard allows exactly the kinds of syntax and the functions that occur in these
samples. To allow a function, write a call of it into its engine's list.
"""

import functools
from dataclasses import dataclass
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.sqlite import SQLite

from chat.datasources.address import POSTGRESQL, SQLITE


class _SQLite(SQLite):
    """Writes names in backticks: what SQLite does not know in "…" it takes for text."""

    class Tokenizer(SQLite.Tokenizer):
        # The first is the one that is written.
        IDENTIFIERS: ClassVar = ["`", '"', ("[", "]")]


DIALECTS: dict[str, DialectType] = {POSTGRESQL: Postgres, SQLITE: _SQLite}
# Names without brackets that are no columns, though the parser takes them for such.
_VALUES_OF_POSTGRESQL = frozenset({"user", "current_role", "system_user"})

_QUERIES = """
select t.*, a as b, 'x', 1, -1.5, null, true from s.t as t where not (a = 1 or b <> 2)
select distinct a from t where a > 1 and b >= 2 and c < 3 and d <= 4 order by a desc
select a + b, a - b, a * b, a / b, a % b, a || b from t where a in (1, 2)
select a from t where a between 1 and 2 and b like 'x%' escape '!' and c is not null
select a from t where exists (select 1 from u) and a in (select b from u)
select case a when 1 then 2 else 3 end, case when a then 1 end, (select 1) from t
select count(distinct a) from t group by a having count(*) > 1 limit 5 offset 2
select a from t join u on t.a = u.b left join v using (a) cross join w
select a from t union all select a from u union select 1
select a from t except select a from u intersect select a from v
with x as (select 1 as a), y(b) as (select 2) select * from x, y
with recursive x as (select 1 union all select a + 1 from x) select * from x
select * from (select 1 as a) as u
select * from (values (1, 2), (3, 4)) as u(a, b)
select sum(a) over (partition by b order by c rows between 1 preceding and 2 following)
select sum(a) over w from t window w as (order by a)
select sum(a) filter (where b) from t order by 1 nulls last
select cast(a as text), cast(a as decimal(10, 2)), cast(a as varchar(20))
select a & 1, a | 1, ~a, a << 1, a >> 1 from t where a is distinct from b
select a -> '$.b[0]', a ->> '$.b', a ->> 'b', a ->> 0 from t
"""

# Nothing here reads files, settings or other sessions, waits, or makes much of little.
_FUNCTIONS = """
abs(a) avg(a) ceil(a) coalesce(a,1) concat(a,b) concat_ws('x',a,b) count(*)
exp(a) floor(a) length(a) ln(a) log(a) lower(a) upper(a) max(a)
min(a) mod(a,2) nullif(a,b) power(a,2) replace(a,'x','y') round(a,2) sign(a) sqrt(a)
substring(a,1,2) substr(a,1,2) sum(a) trim(a) ltrim(a) rtrim(a) trunc(a)
current_date current_timestamp degrees(a) radians(a) pi()
row_number() rank() dense_rank() percent_rank() cume_dist() ntile(4)
lag(a) lead(a,1) first_value(a) last_value(a) nth_value(a,2)
"""
_OF_POSTGRESQL = """
octet_length(a) greatest(a,b) least(a,b) ceiling(a) char_length(a) now()
strpos(a,'x') btrim(a) left(a,1) right(a,1) split_part(a,'x',1) initcap(a)
reverse(a) regexp_replace(a,'x','y') to_char(a,'YYYY') to_date(a,'YYYY')
to_number(a,'9') to_timestamp(a) date_part('year',a) date_trunc('month',a)
age(a) age(a,b) localtimestamp make_date(1,2,3) array_agg(a) json_agg(a)
bool_and(a) bool_or(a) every(a) stddev(a) stddev_pop(a) stddev_samp(a)
variance(a) var_pop(a) var_samp(a) corr(a,b) div(a,b) md5(a) cbrt(a)
array_length(a,1) cardinality(a) array_to_string(a,',') jsonb_array_length(a)
host(a) family(a) masklen(a) network(a) netmask(a) broadcast(a) isfinite(a)
width_bucket(a,1,2,3) string_agg(a,',')
"""
_PHRASES_OF_POSTGRESQL = """
position('x' in a)
substring(a from 1 for 2)
extract(year from a)
string_agg(a, ',' order by b)
percentile_cont(0.5) within group (order by a)
percentile_disc(0.5) within group (order by a)
mode() within group (order by a)
a #> '{x}'
a #>> '{x}'
a @> b
a <@ b
a ilike 'x'
a ~ 'x'
a ~* 'x'
a similar to 'x'
a at time zone 'UTC'
interval '1 day'
a = any(array[1, 2])
a = all(array[1, 2])
a > all (select 1)
a[1]
"""
_OF_SQLITE = """
ifnull(a,b) iif(a,b,c) max(a,b) min(a,b) pow(a,2) instr(a,'x') total(a)
trim(a,'x') group_concat(a) group_concat(a,',') date('now') date(a,'+1')
time(a) datetime(a) datetime('now','-1') julianday(a) unixepoch(a)
strftime('%Y',a) strftime('%Y',a,'-1') typeof(a) unicode(a)
json_extract(a,'$.x') json_array_length(a) json_type(a) current_time
"""
_PHRASES_OF_SQLITE = """
a glob 'x'
a is b
a collate nocase
group_concat(distinct a)
"""
_ONLY_POSTGRESQL = """
select distinct on (a) a from t fetch first 5 rows only
select * from t left join lateral (select 1) as x on true
select a from t group by rollup (a), cube (b), grouping sets ((a), ())
"""

_TYPES = """
BIGINT BOOLEAN CHAR DATE DECIMAL DOUBLE FLOAT INET INT INTERVAL JSON JSONB NCHAR
NVARCHAR SMALLINT TEXT TIME TIMESTAMP TIMESTAMPTZ TINYINT UUID VARCHAR
"""
# What values may be converted to.
TYPES = frozenset(exp.DataType.Type[name] for name in _TYPES.split())


@dataclass(frozen=True)
class Grammar:
    """Kinds of syntax, and the functions that sqlglot knows by name alone."""

    kinds: frozenset[type[exp.Expr]]
    names: frozenset[str]
    functions: frozenset[str]
    values: frozenset[str]


@functools.cache
def grammar_of(engine: str) -> Grammar:
    dialect = DIALECTS[engine]
    own = _OF_POSTGRESQL if engine == POSTGRESQL else _OF_SQLITE
    calls = [*_FUNCTIONS.split(), *own.split()]
    phrases = _PHRASES_OF_POSTGRESQL if engine == POSTGRESQL else _PHRASES_OF_SQLITE
    samples = _QUERIES + (_ONLY_POSTGRESQL if engine == POSTGRESQL else "")
    texts = [
        *(line for line in samples.splitlines() if line),
        *(f"select {part}" for part in phrases.strip().splitlines()),
        *(f"select {call}" for call in calls),
    ]
    nodes = [
        node
        for text in texts
        for node in sqlglot.parse_one(text, dialect=dialect).walk()
    ]
    return Grammar(
        kinds=frozenset(type(node) for node in nodes),
        names=frozenset(
            node.name.lower() for node in nodes if isinstance(node, exp.Anonymous)
        ),
        functions=frozenset(call.partition("(")[0] for call in calls),
        values=_VALUES_OF_POSTGRESQL if engine == POSTGRESQL else frozenset(),
    )
