"""sqlite3: statements and dot commands."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.sql.places import prints_to, run_statements
from shim.options import parse, spec
from shim.text import HOLE

_SQLITE = spec(
    "-cmd -init -separator -newline -nullvalue -vfs -mmap -maxsize -lookaside -pagecache", words=True
)


_SQLITE_READS = re.compile(
    r"\.(schema|tables|databases|indexes|indices|dump|headers?|mode|help|show|stats|timer|width|quit|exit|"
    r"echo|bail|explain|separator|nullvalue|print|fullschema|dbinfo|sha3sum|lint|eqp|changes|version|"
    r"prompt|limit|parameter|timeout|auth|dbconfig|scanstats|selftest|vfs\w*|trace|expert|connection|cd|"
    r"binary|sha3|nonce|progress|recover)\b"
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
            prints_to(call, path)
        elif re.match(r"\.import\b", stripped):
            kept.append("insert")
        elif re.match(r"\.restore\b", stripped):
            kept.append("drop")
        elif _SQLITE_READS.match(stripped):
            call.does(Effect.READ, "sqlite3", stripped.split()[0])
        else:
            call.unknown("sqlite3", f"{stripped.split()[0]} is not classified", code="unlisted-tool")
    return "\n".join(kept)
