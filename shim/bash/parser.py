"""bash text -> nodes. What is not understood raises `Unreadable`, and its effect is unknown.

Grammar: the bash reference manual, section "Shell Commands".
"""

import re

from shim.bash.compound import COMPOUNDS, arithmetic, function_body, subshell
from shim.bash.effort import Effort, Unreadable
from shim.bash.nodes import AndOr, Command, Pipeline, Script, Word
from shim.bash.simple import read_simple
from shim.bash.source import Source
from shim.bash.words import expandable, whole_word

MAX_TEXT = 200_000
MAX_DEPTH = 40
_A_SCRIPT, _A_COMMAND = 20, 15  # steps
_CLOSERS = {"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"}
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\={}]+)[ \t]*\([ \t]*\)")


def parse(text: str, depth: int = 0, effort: Effort | None = None) -> Script:
    """The script in `text`; `effort` is what reading it may cost, the text's own without one."""
    effort = Effort(len(text)) if effort is None else effort
    effort.copy(len(text), _A_SCRIPT)
    if len(text) > MAX_TEXT or depth > MAX_DEPTH:
        raise Unreadable("too long or too deep to be read")
    source = _source(text, depth, effort)
    script = _Parser(source).script()
    if source.peek():
        raise Unreadable(f"unexpected {source.peek()!r}")
    return script


def operand(text: str, quoted: bool, effort: Effort) -> Word:
    """What follows the operator of a `${…}`, as a word."""
    source = _source(text, 0, effort)
    return expandable(text, source) if quoted else whole_word(text, source)


def _source(text: str, depth: int, effort: Effort) -> Source:
    return Source(text, lambda inner, start: _nested(inner, start, depth + 1, effort), effort)


def _nested(text: str, start: int, depth: int, effort: Effort) -> tuple[Script, int]:
    """A nested script: the whole text, or from `start` to the closing bracket."""
    if start < 0:
        return parse(text, depth, effort), len(text)
    if depth > MAX_DEPTH:
        raise Unreadable("too deep to be read")
    source = _source(text, depth, effort)
    source.at = start
    script = _Parser(source).script()
    if source.peek() != ")":
        raise Unreadable("a substitution that does not end")
    return script, source.at


class _Parser:
    """Reads lists of commands; what they consist of is read in `simple` and `compound`."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def script(self, *closers: str) -> Script:
        """Commands up to one of these keywords, or a closing bracket; that is not consumed."""
        source = self.source
        items: list[AndOr] = []
        while True:
            source.blank_lines()
            if self._at_end(closers):
                return Script(tuple(items))
            items.append(self._and_or())
            source.spaces()
            if source.peek(2) in (";;", ";&") or not source.separator():
                if self._at_end(closers):
                    return Script(tuple(items))
                raise Unreadable(f"unexpected {source.peek(10)!r}")

    def _at_end(self, closers: tuple[str, ...]) -> bool:
        source = self.source
        source.spaces()
        char = source.peek()
        if not char or char == ")" or source.peek(2) in (";;", ";&"):
            return True
        return source.keyword() in closers

    def _and_or(self) -> AndOr:
        source = self.source
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while True:
            source.spaces()
            operator = source.peek(2)
            if operator not in ("&&", "||"):
                return AndOr(first, tuple(rest))
            source.at += 2
            source.blank_lines()
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        source = self.source
        commands: list[Command] = []
        while True:
            self._prefixes()
            commands.append(self.command())
            source.spaces()
            if source.peek() != "|" or source.peek(2) == "||":
                return Pipeline(tuple(commands))
            source.at += 2 if source.peek(2) == "|&" else 1
            source.blank_lines()

    def _prefixes(self) -> None:
        """`!` and `time` before a pipeline change nothing about its effect."""
        source = self.source
        while True:
            source.spaces()
            word = source.keyword()
            if word not in ("!", "time"):
                return
            source.at += len(word)
            source.spaces()
            if word == "time" and source.keyword() == "-p":
                source.at += 2

    def command(self) -> Command:
        """One command, the next."""
        source = self.source
        source.effort.spend(_A_COMMAND)
        source.spaces()
        keyword = source.keyword()
        compound = COMPOUNDS.get(keyword)
        if compound is not None:
            return compound(self)
        if source.peek(2) == "((" and (test := arithmetic(self)):
            return test
        if source.peek() == "(":
            return subshell(self)
        if keyword in _CLOSERS:
            raise Unreadable(f"unexpected {keyword}")
        named = _FUNCTION.match(source.text, source.at)
        if named:
            source.at = named.end()
            return function_body(self, named[1])
        return read_simple(source)
