"""Whether SQL only reads, by its syntax tree: the second opinion to `querytext`'s keywords. Pure.

The parser (sqlglot) is loaded on first use. Its work grows with the number of tokens, its stack with
nesting, and it goes back over what it has read: all three are bounded before or while it runs, so that
no text takes longer than some tens of milliseconds.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from netpolicy.words import words

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

MAX_TEXT = 8 * 1024  # characters
MAX_TOKENS = 1500
MAX_NESTING = 24
MAX_STEPS = 6000  # tokens advanced over, those read again included

# What only makes rows; every other function in a FROM may fetch from elsewhere or act.
_ROW_MAKERS = words(
    "numbers numbers_mt zeros zeros_mt values generaterandom generate_series generateseries generate_array "
    "generate_date_array sequence unnest explode posexplode flatten null format view merge dictionary "
    "json_each json_tree json_array_elements jsonb_array_elements json_to_recordset jsonb_to_recordset "
    "regexp_split_to_table string_split string_to_table openjson lateral tumble hop cumulate"
)
_HELD_NODES = (
    "DDL", "DML", "Command", "Into", "Lock", "Set", "SetItem", "Use", "Kill", "Pragma", "Drop", "Alter",
    "TruncateTable", "Merge", "LoadData", "Copy", "Attach", "Detach", "Analyze", "Grant", "Revoke",
    "Transaction", "Commit", "Rollback", "Refresh", "Export", "Cache", "Uncache", "Execute", "NextValueFor",
)  # fmt: skip
_ROOTS = ("Select", "SetOperation", "Subquery", "Values", "Describe", "Paren", "Table")


class TooMuch(ValueError):
    """A text that would take too long to parse."""


@lru_cache(maxsize=1)
def _types() -> tuple[tuple[type, ...], tuple[type, ...]]:
    """The node types that hold, and those a statement may be."""
    import logging

    from sqlglot import exp

    # It warns of statements it only keeps as text; here they count as unknown anyway.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    held = tuple(kind for name in _HELD_NODES if (kind := getattr(exp, name, None)) is not None)
    roots = tuple(kind for name in _ROOTS if (kind := getattr(exp, name, None)) is not None)
    return held, roots


@lru_cache(maxsize=16)
def _parser(dialect: str) -> tuple[Any, type[Any]]:
    """A dialect, and its parser with a budget of steps."""
    from sqlglot import Dialect

    spoken = Dialect.get_or_raise(dialect)

    class Bounded(spoken.parser_class):  # type: ignore[name-defined,misc]
        steps = 0

        def _advance(self, times: int = 1) -> None:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise TooMuch("the text takes too many steps to parse")
            super()._advance(times)

    return spoken, Bounded


def parsed(text: str, dialect: str) -> "list[Expr | None]":
    """The statements of `text`. Raises ValueError for what cannot be parsed, or only at too great a cost."""
    if len(text) > MAX_TEXT:
        raise TooMuch("the text is too long to be parsed")
    _types()
    spoken, bounded = _parser(dialect)
    try:
        tokens = spoken.tokenize(text)
        # Few tokens nest no deeper than they are many.
        if len(tokens) > MAX_NESTING and _too_deep([token.text for token in tokens]):
            raise TooMuch("the text is too long or too deep to be parsed")
        return list(bounded(dialect=spoken).parse(tokens, text))
    except TooMuch:
        raise
    except RecursionError:
        raise TooMuch("the text is too deep to be parsed") from None
    except Exception as error:  # a parser's own faults are no reason to let anything pass
        raise ValueError(f"cannot be parsed as {dialect}: {str(error)[:80]}") from None


def _too_deep(texts: list[str]) -> bool:
    if len(texts) > MAX_TOKENS:
        return True
    depth = deepest = prefixed = 0
    for text in texts:
        if text in ("(", "[", "{") or text.upper() == "CASE":
            depth += 1
        elif text in (")", "]", "}") or text.upper() == "END":
            depth = max(0, depth - 1)
        # A row of prefix operators nests without any parenthesis.
        prefixed = prefixed + 1 if text.upper() in ("NOT", "-", "~", "+", "INTERVAL") else 0
        deepest = max(deepest, depth + prefixed)
    return deepest > MAX_NESTING


@lru_cache(maxsize=256)  # of texts up to MAX_TEXT: what is asked once is often asked again
def only_reads(text: str, dialect: str) -> bool:
    """Whether `text` is one statement that reads, and reads only tables of its own server."""
    try:
        statements = parsed(text, dialect)
    except ValueError:
        return False
    _, roots = _types()
    found = [statement for statement in statements if statement is not None]
    if len(found) != 1 or not isinstance(found[0], roots):
        return False
    return not any(map(_acts, found[0].walk()))


def _acts(node: Any) -> bool:
    kind: Any = type(node)
    told = _told_by(kind)
    return told is not None and told(node)


@lru_cache(maxsize=1024)  # node types, which are the parser's
def _told_by(kind: type) -> Callable[[Any], bool] | None:
    """What tells whether a node of this type acts; None: it never does."""
    from sqlglot import exp

    held, _ = _types()
    if issubclass(kind, held) and not issubclass(kind, exp.Query):
        return lambda node: True
    if issubclass(kind, exp.Select):
        return lambda node: node.args.get("into") is not None
    return _fetches if issubclass(kind, exp.Table) else None


def _fetches(table: Any) -> bool:
    from sqlglot import exp

    return isinstance(table.this, (exp.Func, exp.Anonymous)) and _name(table.this) not in _ROW_MAKERS


def _name(function: Any) -> str:
    name = function.name if type(function).__name__ in ("Anonymous", "AnonymousAggFunc") else ""
    return str(name or function.sql_name()).lower()
