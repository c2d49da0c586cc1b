"""mysql: statements and client commands."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.sql.places import database_place, hosts_of, run_statements
from shim.options import parse, spec
from shim.text import HOLE

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
