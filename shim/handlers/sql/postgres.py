"""psql: statements and backslash commands."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.sql.places import database_place, hosts_of, prints_to, run_statements
from shim.options import parse, spec
from shim.text import HOLE

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
        prints_to(call, path)
    for text in texts:
        run_statements(call, _psql_commands(call, text), place, target)
    return HOLE


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
