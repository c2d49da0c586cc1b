"""Query languages: whether a text only reads, from its keywords outside strings and comments. Pure.

No grammar is needed for a cautious answer: what is not certainly a read is unknown, and a keyword that
writes makes it a write. Dialects differ in quoting and comments; where they differ, a text that reads
differently under either is unknown. SQL of a known dialect must besides be a read by its syntax tree
(`sqltree`); SPARQL, Cypher and InfluxQL have none here.
"""

import re
from itertools import pairwise

from netpolicy.sqltree import only_reads
from netpolicy.words import words
from sekisho.core.action import Effect

MAX_TEXT = 64 * 1024

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<open>/\*)"  # looking for its end again at each next one would take quadratic time
    r"|(?P<slashes>//[^\n]*)"
    r"|(?P<string>'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`[^`]*`)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<other>[^\sA-Za-z_])",
    re.S,
)
_SQL_DOUBT = re.compile(r"\\['\"]|/\*!|--[^\s-]")  # an escape, comments that some servers run or do not see

SQL_READS = words("SELECT SHOW DESCRIBE DESC EXISTS VALUES WITH")
_PLACEHOLDER = re.compile(r"(?<![\w$])\$[0-9]{1,4}(?![\w$])")
_PLANS = words("PLAN PIPELINE SYNTAX AST ESTIMATE")  # forms of EXPLAIN that run nothing
_EXPLAIN = re.compile(rf"\s*EXPLAIN\s+(?:(?:{'|'.join(sorted(_PLANS))})\s+)?", re.IGNORECASE)
# Statements that only tell of the database; grammars of these are beyond the parser.
_TOLD = re.compile(r"\s*(?:SHOW|DESC|DESCRIBE|EXISTS)\b", re.IGNORECASE)
# Wherever it stands, it writes; the others do so at the beginning of a statement.
SQL_WRITES_ANYWHERE = words(
    "INSERT UPDATE DELETE MERGE DROP TRUNCATE ALTER CREATE GRANT REVOKE OUTFILE DUMPFILE"
)
SQL_WRITES_FIRST = SQL_WRITES_ANYWHERE | words(
    "REPLACE UPSERT RENAME ATTACH DETACH OPTIMIZE KILL SYSTEM COPY LOAD CALL EXEC EXECUTE IMPORT "
    "BACKUP RESTORE EXPORT UNDROP MOVE EXCHANGE VACUUM REFRESH COMMENT"
)
SQL_FETCHES = words(
    "url urlcluster file filecluster remote remotesecure s3 s3cluster gcs hdfs hdfscluster mysql "
    "postgresql jdbc odbc executable input cluster clusterallreplicas mongodb redis sqlite "
    "azureblobstorage iceberg deltalake hudi system query external_query read_csv read_parquet "
    "httpget http_get dblink pg_read_file load_extension sleep pg_terminate_backend setval nextval "
    "lo_import lo_export xp_cmdshell set_config query_to_xml database_to_xml table_to_xml cursor_to_xml "
    "dblink_exec dblink_send_query dblink_connect load_file sys_exec sys_eval openrowset opendatasource "
    "utl_http writefile readfile fts3_tokenizer postgres_query mysql_query sqlite_scan postgres_scan "
    "read_json read_json_auto read_csv_auto parquet_scan glob"
)
# PostgreSQL's server functions act on the server, but for those that only tell of it.
_POSTGRES_ACTS = re.compile(
    r"pg_(?!get_|typeof$|size_pretty$|table_is_visible$|encoding_to_char$|column_size$|is_in_recovery$)\w*(?<!_size)"
    r"|lo_\w+|dblink\w*"
)


def tokens(text: str) -> list[tuple[str, str]]:
    """(kind, text) of each token, comments left out. Raises ValueError for what is left open or too long."""
    if len(text) > MAX_TEXT:
        raise ValueError("the text is too long to be looked at")
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "comment":
            continue
        if kind == "open" or (kind == "other" and match[0] in "'\"`"):
            raise ValueError("a string or comment is left open")
        found.append((kind, match[0]))
    return found


def _statements(found: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    parts: list[list[tuple[str, str]]] = [[]]
    for token in found:
        if token == ("other", ";"):
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _calls(statement: list[tuple[str, str]]) -> set[str]:
    """Names directly before a parenthesis, in lower case; quoted ones count, too."""
    return {
        token[1].strip('`"').lower()
        for token, following in pairwise(statement)
        if following == ("other", "(") and (token[0] == "word" or token[1][0] in '`"')
    }


def _statement(statement: list[tuple[str, str]]) -> Effect:
    words = [text.upper() for kind, text in statement if kind == "word"]
    first = next((text.upper() for kind, text in statement if kind == "word" or text != "("), "")
    if first == "EXPLAIN":
        words = words[2:] if words[1:2] and words[1] in _PLANS else words[1:]
        first = words[0] if words else ""
    called = _calls(statement)
    writes = SQL_WRITES_ANYWHERE & set(words)
    if first in SQL_WRITES_FIRST or writes - {name.upper() for name in called}:
        return Effect.EXTERNAL
    fetches = called & SQL_FETCHES or any(_POSTGRES_ACTS.fullmatch(name) for name in called)
    doubt = writes or first not in SQL_READS or {"INTO", "FOR"} & set(words) or fetches
    return Effect.UNKNOWN if doubt else Effect.READ


def sql(text: str, dialect: str | None = None) -> Effect:
    """Whether SQL reads, writes, or cannot be told; `dialect` is one that `sqltree` parses."""
    effect = _by_keywords(text)
    if effect is not Effect.READ or dialect is None or _TOLD.match(text):
        return effect
    return effect if only_reads(_EXPLAIN.sub("", text), dialect) else Effect.UNKNOWN


def _by_keywords(text: str) -> Effect:
    try:
        found = tokens(text)
    except ValueError:
        return Effect.UNKNOWN
    effects = [_statement(statement) for statement in _statements(found)]
    if Effect.EXTERNAL in effects:
        return Effect.EXTERNAL
    # `#`, `//` and `$` begin comments and strings in some dialects and mean something else in others.
    dollars = sum(part == "$" for _, part in found) > len(_PLACEHOLDER.findall(text))
    doubt = (
        dollars or _SQL_DOUBT.search(text) or any(kind == "slashes" or part == "#" for kind, part in found)
    )
    return Effect.READ if effects == [Effect.READ] and not doubt else Effect.UNKNOWN


CYPHER_WRITES = words("CREATE MERGE DELETE DETACH SET REMOVE DROP LOAD FOREACH GRANT REVOKE ALTER START STOP")


def cypher(text: str) -> Effect:
    """Whether a Cypher query reads: procedures can do anything, so a CALL cannot be told."""
    try:
        words = {word.upper() for kind, word in tokens(text) if kind == "word"}
        if "--" in text:
            return Effect.UNKNOWN
    except ValueError:
        return Effect.UNKNOWN
    if words & CYPHER_WRITES:
        return Effect.EXTERNAL
    return Effect.READ if words & {"MATCH", "RETURN", "SHOW"} and "CALL" not in words else Effect.UNKNOWN


_SPARQL = re.compile(
    r"(?P<comment>\#[^\n]*)|(?P<iri><[^<>\"{}|^`\\\s]*>)"
    r"|(?P<string>'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<name>[?$:][\w.:-]*|[A-Za-z_][\w.-]*:[\w.%-]*)|(?P<word>[A-Za-z_]\w*)|(?P<other>[^\s])",
    re.S,
)
_SPARQL_WRITES = words("INSERT DELETE LOAD CLEAR CREATE DROP COPY MOVE ADD")


def sparql(text: str) -> Effect:
    """Whether a SPARQL request is a query that stays at its own server."""
    if len(text) > MAX_TEXT:
        return Effect.UNKNOWN
    words = []
    for match in _SPARQL.finditer(text):
        if match.lastgroup == "other" and match[0] in "'\"":
            return Effect.UNKNOWN
        if match.lastgroup == "word":
            words.append(match[0].upper())
    if _SPARQL_WRITES & set(words):
        return Effect.EXTERNAL
    if {"SERVICE", "FROM"} & set(words):
        return Effect.UNKNOWN
    forms = [word for word in words if word in ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")]
    return (
        Effect.READ
        if forms and forms[0] == next((w for w in words if w not in ("PREFIX", "BASE")), "")
        else Effect.UNKNOWN
    )
