"""Reading the commands that hold others: `if`, loops, `case`, groups, functions."""

from collections.abc import Callable
from typing import Protocol

from shim.bash.effort import Unreadable
from shim.bash.nodes import (
    Branches,
    Case,
    Command,
    Function,
    Group,
    Loop,
    Script,
    Test,
    Word,
)
from shim.bash.simple import read_redirects
from shim.bash.source import Source
from shim.bash.words import doubly_bracketed, read_word


class Parser(Protocol):
    """Who reads what is inside."""

    source: Source

    def script(self, *closers: str) -> Script:
        """Commands up to one of these keywords, or a closing bracket; that is not consumed."""
        ...

    def command(self) -> Command:
        """One command, the next."""
        ...


def _if(parser: Parser) -> Branches:
    source = parser.source
    source.at += 2
    arms: list[tuple[Script | None, Script]] = []
    ended = "elif"
    while ended == "elif":
        condition = parser.script("then")
        _expect(source, "then")
        arms.append((condition, parser.script("elif", "else", "fi")))
        ended = _expect(source, "elif", "else", "fi")
    if ended == "else":
        arms.append((None, parser.script("fi")))
        _expect(source, "fi")
    return Branches(tuple(arms), read_redirects(source))


def _for(parser: Parser) -> Loop:
    source = parser.source
    source.at += len(source.keyword())
    source.spaces()
    if source.peek(2) == "((":
        inner = doubly_bracketed(source)
        source.separator()
        return Loop(_do_group(parser), arithmetic=inner, redirects=read_redirects(source))
    variable = read_word(source).src
    words: tuple[Word, ...] | None = None
    if source.keyword_after_blank() == "in":
        source.at += 2
        words = _words_to_separator(source)
    source.separator()
    return Loop(_do_group(parser), variable, words, redirects=read_redirects(source))


def _words_to_separator(source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    while True:
        source.spaces()
        if source.peek() in ("", ";", "\n", "&"):
            return tuple(words)
        words.append(read_word(source))
        if not words[-1].parts:
            raise Unreadable(f"unexpected {source.peek()!r}")


def _while(parser: Parser) -> Loop:
    source = parser.source
    source.at += 5
    condition = parser.script("do")
    return Loop(_do_group(parser), condition=condition, redirects=read_redirects(source))


def _case(parser: Parser) -> Case:
    source = parser.source
    source.at += 4
    source.spaces()
    subject = read_word(source)
    _expect(source, "in")
    arms: list[tuple[tuple[Word, ...], Script]] = []
    while source.keyword_after_blank() != "esac":
        patterns = _patterns(source)
        arms.append((patterns, parser.script("esac")))
        while source.peek() in (";", "&") and source.peek():
            source.at += 1
    source.at += 4
    return Case(subject, tuple(arms), read_redirects(source))


def _patterns(source: Source) -> tuple[Word, ...]:
    if source.peek() == "(":
        source.at += 1
    words: list[Word] = []
    while True:
        source.spaces()
        words.append(read_word(source))
        source.spaces()
        ended = source.take()
        if ended == ")":
            return tuple(words)
        if ended != "|":
            raise Unreadable("a case pattern that does not end")


def _test(parser: Parser) -> Test:
    source = parser.source
    source.at += 2
    words: list[Word] = []
    while True:
        source.blank_lines()
        if source.keyword() == "]]":
            source.at += 2
            return Test(tuple(words), read_redirects(source))
        if source.peek() in ("(", ")", "<", ">", "|", "&") and source.peek():
            source.at += 1
            continue
        words.append(read_word(source, " \t\n;&|<>)"))
        if not words[-1].parts:
            raise Unreadable("a test that does not end")


def arithmetic(parser: Parser) -> Test | None:
    """`((…))`, or None (and nothing is consumed) if it is something else."""
    source = parser.source
    inner = doubly_bracketed(source)
    return None if inner is None else Test((inner,), read_redirects(source))


def subshell(parser: Parser) -> Group:
    """`(…)`."""
    source = parser.source
    source.at += 1
    body = parser.script()
    if source.peek() != ")":
        raise Unreadable("a subshell that does not end")
    source.at += 1
    return Group(body, True, read_redirects(source))


def _brace_group(parser: Parser) -> Group:
    source = parser.source
    source.at += 1
    body = parser.script("}")
    _expect(source, "}")
    return Group(body, False, read_redirects(source))


def _function(parser: Parser) -> Function:
    source = parser.source
    source.at += 8
    source.spaces()
    name = read_word(source).src
    source.spaces()
    if source.peek() == "(":
        source.at = source.text.find(")", source.at) + 1
    return function_body(parser, name)


def function_body(parser: Parser, name: str) -> Function:
    """The function whose body comes next."""
    parser.source.blank_lines()
    return Function(name, parser.command())


def _coproc(parser: Parser) -> Command:
    """`coproc [NAME] command`: NAME only before a compound command."""
    source = parser.source
    source.at += 6
    source.spaces()
    start = source.at
    read_word(source)
    source.spaces()
    if source.keyword() not in ("{", "if", "for", "while", "until", "case") and source.peek() != "(":
        source.at = start
    return parser.command()


def _do_group(parser: Parser) -> Script:
    source = parser.source
    if source.keyword_after_blank() == "{":
        source.at += 1
        body = parser.script("}")
        _expect(source, "}")
        return body
    _expect(source, "do")
    body = parser.script("done")
    _expect(source, "done")
    return body


def _expect(source: Source, *words: str) -> str:
    source.blank_lines()
    keyword = source.keyword()
    if keyword not in words:
        raise Unreadable(f"expected {words[0]}")
    source.at += len(keyword)
    return keyword


COMPOUNDS: dict[str, Callable[[Parser], Command]] = {
    "if": _if,
    "for": _for,
    "select": _for,
    "while": _while,
    "until": _while,
    "case": _case,
    "[[": _test,
    "{": _brace_group,
    "function": _function,
    "coproc": _coproc,
}
