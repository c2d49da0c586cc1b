"""What SQL statements do, by the words that start them. Comments and literals count for nothing."""

import re
from collections.abc import Callable, Iterator

from sekisho.core.action import Effect
from shim.grammar import table
from shim.text import HOLE

_READS = table("sql")["read"]


_ADDS = table("sql")["local"]


_LOSES = table("sql")["destructive"]


_ACTING = re.compile(
    r"\b(pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_logfile|pg_switch_wal|"
    r"dblink(_exec|_send_query)?|lo_import|lo_export|lo_unlink|lo_create|setval|nextval|pg_advisory_lock|"
    r"pg_write_file|pg_file_\w+|load_extension|writefile|edit|sys_exec|sys_eval|xp_cmdshell|"
    r"pg_drop_replication_slot|pg_create_\w+|pg_promote|query_to_xml|set_config|pg_stat_reset\w*|get_lock|"
    r"release_lock|txid_current|pg_notify|pg_logical_emit_message)\s*\(",
    re.IGNORECASE,
)


_OPENING = re.compile(r"['\"`]|--|/\*|#(?![>-])|\$\w*+\$")
_QUOTED = {
    "'": re.compile(r"'(?:''|\\.|[^'\\])*'", re.DOTALL),
    '"': re.compile(r'"(?:""|[^"])*"'),
}


def plain(text: str) -> str:
    """Without comments and literals; MySQL's executable comments stay."""
    # Up to the last end of a comment only: behind it each beginning would look for one in vain.
    last = text.rfind("*/") + len("*/") if "*/" in text else 0
    text = re.sub(r"/\*[!M]+\d*(.*?)\*/", r" \1 ", text[:last], flags=re.DOTALL) + text[last:]
    bodies = _bodies(text)
    kept, at = [], 0
    for start, end in _literals(text):
        kept += [text[at:start], _literal(text[start:end], start in bodies)]
        at = end
    return "".join([*kept, text[at:]])


def _literals(text: str) -> Iterator[tuple[int, int]]:
    """Where comments and literals begin and end. What begins one without its end is a character like others,
    and so is each later one of its kind: there is no end after it, either."""
    at, unclosed = 0, set[str]()
    while opening := _OPENING.search(text, at):
        mark = opening[0]
        end = -1 if mark in unclosed else _end(text, opening)
        if end < 0:
            unclosed.add(mark)
            at = opening.start() + 1
        else:
            at = end
            yield opening.start(), end


def _end(text: str, opening: re.Match[str]) -> int:
    """The place behind a literal or comment; -1 where it does not end."""
    mark = opening[0]
    if mark in _QUOTED:
        match = _QUOTED[mark].match(text, opening.start())
        return -1 if match is None else match.end()
    if mark in ("--", "#"):
        line_end = text.find("\n", opening.end())
        return len(text) if line_end < 0 else line_end
    closing = "*/" if mark == "/*" else mark
    end = text.find(closing, opening.end())
    return -1 if end < 0 else end + len(closing)


def _bodies(text: str) -> set[int]:
    """Where the body of a DO block would begin."""
    found = re.finditer(r"(?i)\bdo(?=(\s*+)(language\s++\w++\s*+)?)", text)
    return {end for match in found for end in (match.end(1), match.end(2))}


def _literal(text: str, body: bool) -> str:
    """What stands for a comment or literal; the body of a DO block is code."""
    if body and text[0] == "$":
        return " " + re.sub(r"\$\w*\$|;", " ", text)
    return " " if text[0] in "-/#" else " x "


def statement_effect(statement: str) -> Effect | None:
    """What one statement does in its database; None if it is empty."""
    words = re.findall(r"[a-z_]+|\0|=|\(", statement.lower())
    if not words:
        return None
    first = words[0]
    if first in ("explain", "describe", "desc"):
        return _explained(statement, words)
    special = _SPECIAL.get(first)
    if special is not None:
        return special(set(words))
    if first in _LOSES:
        return Effect.DESTRUCTIVE
    if first in _ADDS:
        return Effect.LOCAL
    if first in _READS:
        return Effect.LOCAL if _acts(statement, words) else Effect.READ
    return _of_parts(statement, words) if first in ("with", "(") else Effect.UNKNOWN


def _acts(statement: str, words: list[str]) -> bool:
    """A query that changes something: by a function, or by writing its result somewhere."""
    return _ACTING.search(statement) is not None or ("into" in words and words[0] != "fetch")


def _of_parts(statement: str, words: list[str]) -> Effect:
    """A statement with parts: the worst of the words that start one."""
    if (_LOSES - {"replace", "flush", "kill"}) & set(words):
        return Effect.DESTRUCTIVE
    return Effect.LOCAL if "insert" in words or _acts(statement, words) else Effect.READ


_SPECIAL: dict[str, Callable[[set[str]], Effect]] = {
    HOLE: lambda words: Effect.UNKNOWN,
    "pragma": lambda words: Effect.LOCAL if "=" in words else Effect.READ,
    "set": lambda words: Effect.LOCAL if words & {"global", "persist"} else Effect.READ,
    "alter": lambda words: Effect.DESTRUCTIVE if words & {"drop", "rename"} else Effect.LOCAL,
    "create": lambda words: Effect.DESTRUCTIVE if "replace" in words else Effect.LOCAL,
    "do": lambda words: Effect.DESTRUCTIVE if _LOSES & words else Effect.UNKNOWN,
    "copy": lambda words: (
        Effect.UNKNOWN if "program" in words else Effect.READ if "to" in words else Effect.LOCAL
    ),
}  # statements whose first word does not decide


def _explained(statement: str, words: list[str]) -> Effect | None:
    if not {"analyze", "analyse"} & set(words[:6]):
        return Effect.READ
    match = re.search(
        r"(?i)\b(select|insert|update|delete|merge|with|values|table|create|execute)\b.*",
        statement,
        re.DOTALL,
    )
    return statement_effect(match[0]) if match else Effect.READ
