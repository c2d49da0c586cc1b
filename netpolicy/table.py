"""Tables of requests: which of a service's calls read and which write. Pure.

A row is `METHODS PATH[?QUERY]`: methods joined by commas or `*`; in the path `*` stays in one segment,
`**` crosses segments (`/a/**` is all below `/a/`, `/**/x` is `/x` at any depth), `{a,b}` is either,
`<index>` a segment that does not begin with `_`; the query names parameters that must be there
(`key`, `key=value`). Rows that free something compare case, rows that hold something do not.
"""

import re
from collections.abc import Iterable

from netpolicy.call import Call, Finding, dropped
from sekisho.core.action import Effect

_TOKEN = re.compile(r"/\*\*(?=/|$)|\*\*/?|\*|\{[^}]*\}|<index>|[^*{<]+|<")
_WILD = re.compile(r"[*{<]")
_INDEX = r"(?!_(?!all(?:/|$)))[^/]+"


def path_regex(pattern: str) -> str:
    """The regular expression (for a full match) of a path pattern; a trailing slash may follow."""
    out = []
    for token in _TOKEN.findall(pattern):
        if token == "/**":
            out.append("(?:/.*)?")
        elif token.startswith("**"):
            out.append("(?:.*/)?" if token.endswith("/") else ".*")
        elif token == "*":
            out.append("[^/]*")
        elif token == "<index>":
            out.append(_INDEX)
        elif token.startswith("{"):
            out.append("(?:" + "|".join(re.escape(part) for part in token[1:-1].split(",")) + ")")
        else:
            out.append(re.escape(token))
    return "".join(out) + "/?"


class Paths:
    """The paths of a pattern, compiled when first needed: few tables are ever asked. `fold` ignores case."""

    __slots__ = ("_begin", "_flags", "_pattern", "_regex")

    def __init__(self, pattern: str, *, fold: bool) -> None:
        self._pattern = pattern
        self._flags = re.DOTALL | re.IGNORECASE if fold else re.DOTALL
        self._regex: re.Pattern[str] | None = None
        # A slash may be part of the `**` after it, which may be left out as a whole.
        self._begin = "" if fold else _WILD.split(pattern, maxsplit=1)[0].rstrip("/")

    def has(self, path: str) -> bool:
        """Whether the pattern fits a path as a whole."""
        if not path.startswith(self._begin):
            return False
        if self._regex is None:
            self._regex = re.compile(path_regex(self._pattern), self._flags)
        return self._regex.fullmatch(path) is not None


class Row:
    """One row; `text` is as written."""

    __slots__ = ("_paths", "_query", "methods", "text")

    def __init__(
        self, text: str, methods: frozenset[str], paths: Paths, query: tuple[tuple[str, str | None], ...]
    ) -> None:
        self.text, self.methods, self._paths, self._query = text, methods, paths, query

    def matches(self, call: Call) -> bool:
        """Whether it names the call."""
        if call.method not in self.methods and "*" not in self.methods:
            return False
        return self._paths.has(call.path) and all(
            call.query.has(key) if value is None else value in call.query.all(key)
            for key, value in self._query
        )


def row(text: str, *, fold: bool) -> Row:
    """Reads a row; `fold` ignores case in the path. Raises ValueError if it is malformed."""
    methods, _, rest = text.partition(" ")
    path, _, query = rest.strip().partition("?")
    if not methods or not path.startswith("/"):
        raise ValueError(f"not a row of a table: {text!r}")
    conditions = tuple(
        (key, value if equals else None)
        for key, equals, value in (part.partition("=") for part in query.split("&") if part)
    )
    return Row(text, frozenset(methods.split(",")), Paths(path, fold=fold), conditions)


class _Rows:
    """Rows in their order, with what each means; kept for each method that one of them names."""

    def __init__(self, groups: Iterable[tuple[str, Iterable[str]]], *, fold: bool) -> None:
        every = [(meaning, row(text, fold=fold)) for meaning, rows in groups for text in rows]
        methods = {method for _, entry in every for method in entry.methods}
        self._named = {name: _about(every, name) for name in methods}
        self._others = _about(every, "*")

    def of(self, method: str) -> tuple[tuple[str, Row], ...]:
        return self._named.get(method, self._others)


def _about(rows: Iterable[tuple[str, Row]], method: str) -> tuple[tuple[str, Row], ...]:
    return tuple((meaning, entry) for meaning, entry in rows if not {method, "*"}.isdisjoint(entry.methods))


class Table:
    """Rows by what they mean, asked from the strictest down; the first that matches decides.

    `rest` is the effect of a POST that no row names (None leaves it to the general rules).
    """

    def __init__(
        self,
        name: str,
        *,
        drop: Iterable[str] = (),
        write: Iterable[str] = (),
        unknown: Iterable[str] = (),
        model: Iterable[str] = (),
        read: Iterable[str] = (),
        rest: Effect | None = Effect.EXTERNAL,
        source: str | None = None,
    ) -> None:
        self.name = name
        self.rest = rest
        self.source = source or f"kind:{name}"
        self.freeing = (*model, *read)
        self._strict = _Rows((("drop", drop), ("write", write), ("unknown", unknown)), fold=True)
        self._free = _Rows((("model", model), ("read", read)), fold=False)

    def held(self, call: Call) -> Finding | None:
        """What the rows that hold say: telemetry, writes, unknown."""
        return self._first(self._strict, call)

    def freed(self, call: Call) -> Finding | None:
        """What the rows that free say: model calls and reads."""
        return self._first(self._free, call)

    def judge(self, call: Call) -> Finding | None:
        """What the table says, or None for the general rules to decide."""
        return self.held(call) or self.freed(call) or self.unnamed(call)

    def unnamed(self, call: Call) -> Finding | None:
        """What becomes of a call that no row names: a POST counts as `rest`."""
        if call.method == "POST" and self.rest is not None:
            reason = f"a POST that is not among the reads of {self.name}"
            return Finding(effect=self.rest, reason=reason, source=self.source)
        return None

    def _first(self, rows: "_Rows", call: Call) -> Finding | None:
        for meaning, entry in rows.of(call.method):
            if entry.matches(call):
                return self._finding(meaning, entry)
        return None

    def _finding(self, meaning: str, entry: Row) -> Finding:
        if meaning == "drop":
            return dropped(rule=entry.text, source=self.source)
        effect = {"write": Effect.EXTERNAL, "unknown": Effect.UNKNOWN}.get(meaning) or Effect(meaning)
        reason = {
            "write": f"changes something at {self.name}",
            "unknown": f"what this does at {self.name} cannot be told",
            "model": "the agent's own model call",
            "read": f"only reads from {self.name}",
        }[meaning]
        return Finding(effect=effect, reason=reason, rule=entry.text, source=self.source)
