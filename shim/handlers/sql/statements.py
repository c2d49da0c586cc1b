"""What SQL statements do, by the words that start them. Comments and literals count for nothing."""

import re

from sekisho.core.action import Effect
from shim.grammar import table
from shim.text import HOLE

_READS = table("sql")["read"]


_ADDS = table("sql")["local"]


_LOSES = table("sql")["destructive"]


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
