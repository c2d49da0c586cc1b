import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.kinds.querytext import cypher, sparql, sql
from sekisho.core.action import Effect

READ, EXTERNAL, UNKNOWN = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("SELECT 1", READ),
        ("select a from b where c = 'DROP TABLE x'", READ),
        ("SELECT comment, load FROM system_log", READ),
        ("(SELECT 1) UNION ALL (SELECT 2)", READ),
        ("WITH x AS (SELECT 1) SELECT * FROM x;", READ),
        ("SELECT replace(a, 'b', 'c') FROM t", READ),
        ("SHOW TABLES", READ),
        ("EXPLAIN SELECT 1", READ),
        ("EXPLAIN ANALYZE DELETE FROM t", EXTERNAL),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", EXTERNAL),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT delete(1)", UNKNOWN),
        ("-- SELECT\nDROP TABLE t", EXTERNAL),
        ("SELECT 1; DROP TABLE t", EXTERNAL),
        ("SELECT 1; SELECT 2", UNKNOWN),
        ("SELECT * INTO x FROM y", UNKNOWN),
        ("SELECT 1 INTO OUTFILE '/x'", EXTERNAL),
        ("SELECT * FROM remote('a', b)", UNKNOWN),
        ("SELECT * FROM `url`('a')", UNKNOWN),
        ("SELECT 'a\\'; DROP TABLE t; --'", UNKNOWN),
        ("SELECT $$'$$; DROP TABLE t; --'", UNKNOWN),
        ("SELECT 1 # '\n; DROP TABLE t -- '", UNKNOWN),
        ("SELECT 1 /*! DROP TABLE t */", UNKNOWN),
        ("SELECT 'open", UNKNOWN),
        ("", UNKNOWN),
        ("BEGIN", UNKNOWN),
        ("SELECT 1 " + "x" * 70_000, UNKNOWN),
    ],
)
def test_sql(text: str, effect: Effect) -> None:
    assert sql(text) is effect


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("SELECT * WHERE { ?s ?p ?o }", READ),
        ("PREFIX delete: <http://a/drop#> ASK { ?insert delete:clear 'LOAD' }", READ),
        ("# SELECT\nCLEAR ALL", EXTERNAL),
        ("INSERT DATA { <a> <b> <c> }", EXTERNAL),
        ("SELECT * { SERVICE <http://a/> { ?s ?p ?o } }", UNKNOWN),
        ("SELECT * FROM <http://a/> { ?s ?p ?o }", UNKNOWN),
        ("", UNKNOWN),
        ("SELECT 'open", UNKNOWN),
    ],
)
def test_sparql(text: str, effect: Effect) -> None:
    assert sparql(text) is effect


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("MATCH (n) RETURN n", READ),
        ("MATCH (n {name: 'DELETE'}) RETURN n // DELETE", READ),
        ("MATCH (n) DETACH DELETE n", EXTERNAL),
        ("MATCH (n) SET n.a = 1", EXTERNAL),
        ("CALL db.labels()", UNKNOWN),
        ("MATCH (a)--(b) SET a.x = 1", UNKNOWN),
    ],
)
def test_cypher(text: str, effect: Effect) -> None:
    assert cypher(text) is effect


@given(st.text(alphabet="SELECT DROP;'\"`-/*#$()\\\n", max_size=60))
def test_a_write_after_anything_is_never_a_read(noise: str) -> None:
    text = f"SELECT 1 {noise}"
    if sql(text) is READ:
        assert sql(text + "; DROP TABLE t") is not READ
