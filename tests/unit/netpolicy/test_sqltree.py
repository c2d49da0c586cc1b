"""The second opinion on SQL: what reads, what does not, and that no text takes long."""

import time

import pytest

from netpolicy.kinds.querytext import sql
from netpolicy.sqltree import MAX_TEXT, only_reads
from sekisho.core.action import Effect

READS = [
    ("clickhouse", "SELECT a, count() FROM t GROUP BY a"),
    ("clickhouse", "WITH x AS (SELECT 1 AS a) SELECT a FROM x FORMAT JSON"),
    ("clickhouse", "(SELECT 1) UNION ALL (SELECT 2)"),
    ("clickhouse", "SELECT * FROM numbers(10) ARRAY JOIN [1] AS b"),
    ("clickhouse", "SELECT * FROM t FINAL PREWHERE a SAMPLE 0.1 LIMIT 1 BY b"),
    ("bigquery", "SELECT * FROM `p.d.t`, UNNEST([1, 2]) AS x"),
    ("trino", "VALUES 1, 2"),
    ("postgres", "SELECT a->>'b' FROM t WHERE c = $1"),
]
NOT_READS = [
    ("clickhouse", "SELECT 1; SELECT 2"),
    ("clickhouse", "SELECT * FROM url('http://x.example', 'CSV')"),
    ("clickhouse", "SELECT * FROM a JOIN remote('h', d.t) USING k"),
    ("clickhouse", "SELECT * FROM a WHERE b IN (SELECT c FROM mysql('h', 'd', 't', 'u', 'p'))"),
    ("bigquery", "SELECT * FROM EXTERNAL_QUERY('c', 'DELETE FROM t')"),
    ("postgres", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"),
    ("postgres", "SELECT * FROM t FOR UPDATE"),
    ("postgres", "SELECT a INTO b FROM t"),
    ("trino", "SELECT * FROM TABLE(system.query(query => 'DROP TABLE t'))"),
    ("trino", "CALL system.x()"),
    ("mysql", "SELECT * FROM t LOCK IN SHARE MODE"),
    ("snowflake", "EXECUTE IMMEDIATE 'DROP TABLE t'"),
    ("clickhouse", "not SQL at all ("),
    ("clickhouse", ""),
]
COSTLY = [
    "SELECT " + "(" * 2000 + "1" + ")" * 2000,
    "SELECT " + "+".join("a" * 3000),
    "SELECT " + "NOT " * 1500 + "1",
    "SELECT " + "- " * 2000 + "1",
    "SELECT " + "f(x -> " * 20 + "1" + ")" * 20,
    "SELECT " + "(a," * 20 + "1" + ")" * 20 + " -> 1",
    "SELECT " + "CASE WHEN 1 THEN " * 300 + "1" + " END" * 300,
    "SELECT " + "CAST(" * 20 + "1" + " AS array<int>)" * 20,
    "SELECT * FROM " + "(SELECT * FROM " * 200 + "t" + ")" * 200,
    "SELECT 1 " + "UNION SELECT 1 " * 500,
    "SELECT * FROM a " + "JOIN b ON x = y " * 450,
    "SELECT a IN (" + ",".join(map(str, range(1700))) + ")",
    "SELECT " + "struct<a " * 100 + "int" + ">" * 100,
    "SELECT '" + "''" * 3900 + "'",
    "SELECT 1 " + "/* " * 2000,
    "WITH " + ",".join(f"c{n} AS (SELECT 1)" for n in range(300)) + " SELECT 1",
]


@pytest.mark.parametrize(("dialect", "text"), READS)
def test_reads_read(dialect: str, text: str) -> None:
    assert only_reads(text, dialect)
    assert sql(text, dialect) is Effect.READ


@pytest.mark.parametrize(("dialect", "text"), NOT_READS)
def test_what_may_act_is_no_read(dialect: str, text: str) -> None:
    assert not only_reads(text, dialect)
    assert sql(text, dialect) is not Effect.READ


@pytest.mark.parametrize("text", COSTLY)
@pytest.mark.parametrize("dialect", ["clickhouse", "trino", "bigquery"])
def test_no_text_takes_long(dialect: str, text: str) -> None:
    sql("SELECT 1", dialect)  # loads the parser
    began = time.thread_time()
    sql(text[:MAX_TEXT], dialect)
    assert time.thread_time() - began < 0.25


def test_a_long_text_is_not_parsed() -> None:
    assert sql("SELECT a FROM t WHERE b = '" + "x" * MAX_TEXT + "'", "clickhouse") is Effect.UNKNOWN


@pytest.mark.parametrize(
    "text", ["SELECT pg_terminate_backend(1)", "SELECT lo_unlink(1)", "SELECT dblink_exec('x')"]
)
def test_functions_that_act_on_the_server_are_no_reads(text: str) -> None:
    assert sql(text, "postgres") is Effect.UNKNOWN


def test_functions_that_tell_of_the_server_are_reads() -> None:
    assert sql("SELECT pg_relation_size('t'), pg_get_viewdef('v'), pg_typeof(1)", "postgres") is Effect.READ


def test_a_plan_is_judged_by_what_it_plans() -> None:
    assert sql("EXPLAIN PLAN SELECT a FROM t", "clickhouse") is Effect.READ
    assert sql("EXPLAIN SELECT * FROM url('x')", "clickhouse") is Effect.UNKNOWN
    assert sql("EXPLAIN ANALYZE SELECT a FROM t", "trino") is Effect.UNKNOWN
