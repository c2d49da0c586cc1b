"""Where a database is, and what statements mean there."""

import re

from sekisho.core.action import Effect
from shim.address import authority, is_loopback_host
from shim.call import Call
from shim.handlers.sql.statements import plain, statement_effect
from shim.options import Parsed
from shim.text import HOLE, known


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


def prints_to(call: Call, path: str) -> None:
    """A file, or after a bar a command that gets the output."""
    if path.startswith("|"):
        call.shell(path[1:], stdin=HOLE)
    elif path:
        call.writes(path)
