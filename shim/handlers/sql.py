"""SQL clients: where the database is, and what the statements do."""

import re

from sekisho.core.action import Effect
from shim.address import authority, is_loopback_host
from shim.call import Call, Handler
from shim.options import Parsed, Spec, parse, spec
from shim.text import HOLE, known

_READS = frozenset(
    (
        "select",
        "show",
        "explain",
        "describe",
        "desc",
        "values",
        "table",
        "use",
        "begin",
        "commit",
        "rollback",
        "start",
        "set",
        "reset",
        "analyze-read",
        "help",
        "checkpoint-read",
        "savepoint",
        "release",
        "end",
        "abort",
        "fetch",
        "declare",
        "close",
        "pragma",
        "list",
        "listen",
        "unlisten",
        "discard",
        "transaction",
    )
)
_ADDS = frozenset(
    (
        "insert",
        "create",
        "comment",
        "grant",
        "revoke",
        "vacuum",
        "analyze",
        "reindex",
        "optimize",
        "refresh",
        "cluster",
        "attach",
        "detach",
        "lock",
        "notify",
        "import",
        "load",
        "upsert",
        "checkpoint",
        "call",
        "prepare",
        "execute",
        "alter",
        "copy",
        "do",
        "security",
        "rename",
        "import",
    )
)
_LOSES = frozenset(
    ("delete", "drop", "truncate", "update", "replace", "merge", "purge", "kill", "flush", "shutdown")
)
_ACTING = re.compile(
    r"\b(pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_logfile|pg_switch_wal|dblink(_exec|_send_query)?|"
    r"lo_import|lo_export|lo_unlink|lo_create|setval|nextval|pg_advisory_lock|pg_write_file|pg_file_\w+|load_extension|"
    r"writefile|edit|sys_exec|sys_eval|xp_cmdshell|pg_drop_replication_slot|pg_create_\w+|pg_promote|query_to_xml|"
    r"set_config|pg_stat_reset\w*|get_lock|release_lock|txid_current|pg_notify|pg_logical_emit_message)\s*\(",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Without comments and literals; MySQL's executable comments stay."""
    text = re.sub(r"/\*[!M]+\d*(.*?)\*/", r" \1 ", text, flags=re.DOTALL)
    return re.sub(
        r"'(?:''|\\.|[^'\\])*'|\"(?:\"\"|[^\"])*\"|`[^`]*`|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/|#(?![>-])[^\n]*",
        _literal,
        text,
        flags=re.DOTALL,
    )


def _literal(match: re.Match[str]) -> str:
    """What stands for a comment or literal; the body of a DO block is code."""
    if match[0][0] == "$" and re.search(r"(?i)\bdo\s*(language\s+\w+\s*)?$", match.string[: match.start()]):
        return " " + re.sub(r"\$\w*\$|;", " ", match[0])
    return " " if match[0][0] in "-/#" else " x "


def statement_effect(statement: str) -> Effect | None:
    """What one statement does in its database; None if it is empty."""
    words = re.findall(r"[A-Za-z_]+|\0|=|\(", statement)
    if not words:
        return None
    first = words[0].lower()
    lower = [word.lower() for word in words]
    if first == HOLE:
        return Effect.UNKNOWN
    if first in ("explain", "describe", "desc"):
        return _explained(statement, lower)
    if first == "pragma":
        return Effect.LOCAL if "=" in words else Effect.READ
    if first in ("set", "reset") and "global" not in lower and "persist" not in lower:
        return Effect.READ
    if first in _LOSES or first == "with" or first == "(":
        return _of_words(lower, Effect.DESTRUCTIVE if first in _LOSES else Effect.READ)
    if first == "alter":
        return Effect.DESTRUCTIVE if "drop" in lower or "rename" in lower else Effect.LOCAL
    if first == "create":
        return Effect.DESTRUCTIVE if "replace" in lower else Effect.LOCAL
    if first == "do":
        return Effect.DESTRUCTIVE if _LOSES & set(lower) else Effect.UNKNOWN
    if first == "copy":
        return Effect.UNKNOWN if "program" in lower else (Effect.READ if "to" in lower else Effect.LOCAL)
    if first == "set":
        return Effect.LOCAL
    if first in _ADDS:
        return Effect.LOCAL
    if first in _READS:
        acts = _ACTING.search(statement) or ("into" in lower and first in ("select", "table"))
        return Effect.LOCAL if acts else Effect.READ
    return Effect.UNKNOWN


def _of_words(words: list[str], otherwise: Effect) -> Effect:
    """A statement with parts: the worst of the words that start one."""
    if words[0] in _LOSES or _LOSES & set(words) - {"replace", "flush", "kill"}:
        return Effect.DESTRUCTIVE
    if "insert" in words or "into" in words:
        return max(otherwise, Effect.LOCAL, key=lambda effect: effect is Effect.LOCAL)
    return otherwise


def _explained(statement: str, words: list[str]) -> Effect | None:
    if not {"analyze", "analyse"} & set(words[:6]):
        return Effect.READ
    match = re.search(
        r"(?i)\b(select|insert|update|delete|merge|with|values|table|create|execute)\b.*",
        statement,
        re.DOTALL,
    )
    return statement_effect(match[0]) if match else Effect.READ


def run_statements(call: Call, text: str, place: Effect, target: str) -> None:
    """`place` is READ for a local database, EXTERNAL for another machine's, UNKNOWN if it cannot be told."""
    if not known(text):
        call.unknown(target, "the statements cannot be told", code="dynamic-command")
        return
    for statement in plain(text).split(";"):
        effect = statement_effect(statement)
        if effect is None:
            continue
        reads = effect is Effect.READ
        if place is Effect.EXTERNAL and effect in (Effect.LOCAL, Effect.DESTRUCTIVE):
            effect = Effect.EXTERNAL
        elif place is Effect.UNKNOWN and not reads:
            effect = Effect.UNKNOWN
        first = (statement.split() or ["sql"])[0].lower()
        call.does(effect, target, f"SQL: {first}", code="sql-write" if not reads else "", verb=f"sql.{first}")


def database_place(hosts: list[str]) -> Effect:
    """READ: this machine; EXTERNAL: another; UNKNOWN: cannot be told."""
    for host in hosts:
        if not host or host.startswith("/") or is_loopback_host(host):
            continue
        return Effect.EXTERNAL if known(host) else Effect.UNKNOWN
    return Effect.READ


def hosts_of(call: Call, parsed: Parsed, options: str, variables: str, words: list[str]) -> list[str]:
    """Hosts named by options, by addresses or `host=` in words, or else by the environment."""
    hosts = [host for name in options.split() for host in parsed.all(name)]
    for word in words:
        if "://" in word or word.startswith(HOLE):
            hosts.append(authority(word)[1] if known(authority(word)[1]) else HOLE)
            hosts += re.findall(r"[?&]host=([^&]*)", word)
        else:
            hosts += re.findall(r"\bhost(?:addr)?\s*=\s*'?([^'\s]+)", word)
    if not hosts:
        hosts = [found for name in variables.split() if (found := call.variable(name))]
        hosts = [authority(host)[1] if "://" in host else host for host in hosts]
    return hosts


_PSQL = spec(
    "-c --command -d --dbname -f --file -h --host -o --output -p --port -U --username -v --set --variable -F "
    "--field-separator -P --pset -R --record-separator -T --table-attr -L --log-file",
    flags="--list --version --help --no-psqlrc --single-transaction --quiet --tuples-only --csv --html",
    abbreviate=True,
)


def psql(call: Call) -> str | None:
    parsed = parse(call.arguments, _PSQL)
    hosts = hosts_of(
        call, parsed, "-h --host", "PGHOST PGHOSTADDR", parsed.words + parsed.all("-d", "--dbname")
    )
    place, target = database_place(hosts), (hosts or ["local database"])[0]
    if parsed.has("--help", "--version", "-V", "-?", "-l", "--list"):
        call.does(Effect.READ, target, "prints help or a list")
        return HOLE
    texts = parsed.all("-c", "--command")
    if parsed.has("-f", "--file"):
        call.unknown(target, "the statements are in a file", code="script-body")
    elif not texts and call.stdin is not None:
        texts = [call.stdin]
    elif not texts:
        call.unknown(target, "an interactive session", code="dynamic-command")
    for path in parsed.all("-o", "--output", "-L", "--log-file"):
        _prints_to(call, path)
    for text in texts:
        run_statements(call, _psql_commands(call, text), place, target)
    return HOLE


def _prints_to(call: Call, path: str) -> None:
    """A file, or after a bar a command that gets the output."""
    if path.startswith("|"):
        call.shell(path[1:], stdin=HOLE)
    elif path:
        call.writes(path)


def _psql_commands(call: Call, text: str) -> str:
    """Acts on backslash commands and returns the rest."""
    kept: list[str] = []
    for line in text.splitlines():
        statement, slash, command = (
            line.partition("\\") if re.match(r"[^']*\\[a-zA-Z!]", line) else (line, "", "")
        )
        kept.append(statement)
        if not slash:
            continue
        if command.startswith("!"):
            call.shell(command[1:].strip(), name="psql")
        elif re.match(
            r"(i|ir|include|gexec|g\s*\||copy\b.*\bprogram\b|o\s*\||w\s*\||e|ef|setenv)(\s|$|\W)",
            command,
            re.I,
        ):
            _psql_dangerous(call, command)
        elif match := re.match(r"copy\s+.*?\bto\s+'?([^'\s]+)", command, re.I):
            call.writes(match[1])
        elif re.match(r"copy\b.*\bfrom\b", command, re.I):
            kept.append("insert")
        elif match := re.match(r"[ow]\s+(\S+)", command):
            call.writes(match[1])
    return "\n".join(kept)


def _psql_dangerous(call: Call, command: str) -> None:
    piped = re.match(r"[gow]\s*\|(.*)", command) or re.search(r"(?i)program\s+'([^']*)'", command)
    if piped:
        call.shell(piped[1], stdin=HOLE, name="psql")
    else:
        call.unknown("psql", "the statements are in a file or a result", code="script-body")


_MYSQL = spec(
    "-e --execute -h --host -P --port -u --user -D --database -S --socket --defaults-file --delimiter "
    "--default-character-set --ssl-ca --protocol --init-command --defaults-extra-file",
    optional="-p --password",
    flags="--version --help --batch --silent --table --raw --force",
    abbreviate=True,
)


def mysql(call: Call) -> str | None:
    parsed = parse(call.arguments, _MYSQL)
    if parsed.has("--help", "--version", "-V", "-?"):
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    hosts = hosts_of(
        call, parsed, "-h --host", "MYSQL_HOST", [word for word in parsed.words if "://" in word]
    )
    place, target = database_place(hosts), (hosts or ["local database"])[0]
    texts = parsed.all("-e", "--execute") + parsed.all("--init-command")
    if not parsed.has("-e", "--execute"):
        if call.stdin is None:
            call.unknown(target, "an interactive session", code="dynamic-command")
        else:
            texts.append(call.stdin)
    for text in texts:
        run_statements(call, _mysql_commands(call, text), place, target)
    return HOLE


def _mysql_commands(call: Call, text: str) -> str:
    kept: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"\s*(?:system|\\!)\s+(.*)", line, re.I):
            call.shell(match[1].rstrip(";"), name="mysql")
        elif re.search(r"(^|;)\s*\\!", line):
            call.shell(line.split("\\!", 1)[1].strip(), name="mysql")
        elif re.match(r"\s*(source|\\\.|pager|\\P)\s", line, re.I):
            call.unknown("mysql", "the statements are in a file", code="script-body")
        elif match := re.match(r"\s*(?:tee|\\T)\s+(\S+)", line, re.I):
            call.writes(match[1], append=True)
        else:
            kept.append(line)
    return "\n".join(kept)


_SQLITE = spec(
    "-cmd -init -separator -newline -nullvalue -vfs -mmap -maxsize -lookaside -pagecache", words=True
)
_SQLITE_READS = re.compile(
    r"\.(schema|tables|databases|indexes|indices|dump|headers?|mode|help|show|stats|timer|width|quit|exit|echo|bail|explain|"
    r"separator|nullvalue|print|fullschema|dbinfo|sha3sum|lint|eqp|changes|version|prompt|limit|parameter|timeout|auth|"
    r"dbconfig|scanstats|selftest|vfs\w*|trace|expert|connection|cd|binary|sha3|nonce|progress|recover)\b"
)


def sqlite(call: Call) -> str | None:
    parsed = parse(call.arguments, _SQLITE)
    if parsed.has("-version", "--version", "-help", "--help"):
        call.does(Effect.READ, "sqlite3", "prints help")
        return HOLE
    database = (parsed.words or [":memory:"])[0]
    texts = parsed.words[1:] + parsed.all("-cmd")
    if parsed.has("-init"):
        call.unknown(database, "the statements are in a file", code="script-body")
    if not parsed.words[1:]:
        if call.stdin is None:
            call.unknown(database, "an interactive session", code="dynamic-command")
        else:
            texts.append(call.stdin)
    place = Effect.READ
    for text in texts:
        run_statements(call, _sqlite_commands(call, text), place, database)
    return HOLE


def _sqlite_commands(call: Call, text: str) -> str:
    kept: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped.startswith("."):
            kept.append(line)
        elif match := re.match(r"\.(?:shell|system)\s+(.*)", stripped):
            call.shell(match[1], name="sqlite3")
        elif match := re.match(r"\.(output|once|log|excel|clone|save|backup)\b\s*(?:main\s+)?(.*)", stripped):
            path = match[2].strip().strip("'\"")
            _prints_to(call, path)
        elif re.match(r"\.import\b", stripped):
            kept.append("insert")
        elif re.match(r"\.restore\b", stripped):
            kept.append("drop")
        elif _SQLITE_READS.match(stripped):
            call.does(Effect.READ, "sqlite3", stripped.split()[0])
        else:
            call.unknown("sqlite3", f"{stripped.split()[0]} is not classified", code="unlisted-tool")
    return "\n".join(kept)


def _maintenance(effect: Effect, options: Spec, reason: str) -> Handler:
    """A tool with one effect on its database."""

    def handler(call: Call) -> str | None:
        parsed = parse(call.arguments, options)
        if parsed.has("--help", "--version", "-V", "-?"):
            call.does(Effect.READ, call.name, "prints help")
            return HOLE
        words = parsed.words + parsed.all("-d", "--dbname")
        hosts = hosts_of(call, parsed, "-h --host", "PGHOST MYSQL_HOST", words)
        place, target = database_place(hosts), (hosts or parsed.words or ["local database"])[0]
        if effect is Effect.READ or place is Effect.READ:
            call.does(effect, target, reason)
        else:
            call.does(place, target, reason, code="sql-write")
        for path in parsed.all("-f", "--file", "-r", "--result-file") if effect is Effect.READ else []:
            call.writes(path)
        return HOLE

    return handler


_PG = spec(
    "-h --host -p --port -U --username -d --dbname -f --file -F --format -j --jobs -t --table -n --schema -N -T "
    "--exclude-table -O --owner -E --encoding -l --locale -T --template -D --tablespace -r --result-file -u --user -Z "
    "--role --maintenance-db -S -Q --where",
    optional="--password",
)

HANDLERS: dict[str, Handler] = {
    "psql": psql,
    "pgcli": psql,
    **dict.fromkeys(("mysql", "mariadb", "mycli"), mysql),
    **dict.fromkeys(("sqlite3", "sqlite", "litecli"), sqlite),
    **dict.fromkeys(
        ("pg_dump", "pg_dumpall", "pg_isready", "mysqldump", "mariadb-dump", "mongodump", "pg_basebackup"),
        _maintenance(Effect.READ, _PG, "copies a database out"),
    ),
    **dict.fromkeys(
        ("createdb", "createuser", "vacuumdb", "reindexdb", "clusterdb", "mysqlimport"),
        _maintenance(Effect.LOCAL, _PG, "changes a database"),
    ),
    **dict.fromkeys(
        ("dropdb", "dropuser", "pg_restore", "mysqladmin", "mongorestore", "mongoimport"),
        _maintenance(Effect.DESTRUCTIVE, _PG, "replaces or deletes data"),
    ),
}
