"""Reading one simple command: its words, assignments and redirects."""

import re

from shim.bash.cursor import METACHARACTERS
from shim.bash.effort import Unreadable
from shim.bash.nodes import DECLARATIONS, Assignment, Redirect, Simple, Word
from shim.bash.source import Source
from shim.bash.words import balanced, read_word, whole_word

_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_INDEXED = re.compile(r"([A-Za-z_]\w*)\[")
_EQUALS = re.compile(r"()(\+?=)")


def read_simple(source: Source) -> Simple:
    """The command at the cursor. Raises Unreadable where there is none."""
    words: list[Word] = []
    assignments: list[Assignment] = []
    redirects: list[Redirect] = []
    while True:
        source.spaces()
        if _redirect(source, redirects):
            continue
        char = source.peek()
        if not char or (char in METACHARACTERS and source.peek(2) not in ("<(", ">(")):
            break
        if (not words or words[0].plain in DECLARATIONS) and _assignment(source, assignments, words):
            continue
        words.append(read_word(source))
    if not (words or assignments or redirects):
        raise Unreadable(f"no command before {source.peek()!r}")
    return Simple(tuple(words), tuple(assignments), tuple(redirects))


def read_redirects(source: Source) -> tuple[Redirect, ...]:
    """Those that stand behind a compound command."""
    redirects: list[Redirect] = []
    source.spaces()
    while _redirect(source, redirects):
        source.spaces()
    return tuple(redirects)


def _redirect(source: Source, redirects: list[Redirect]) -> bool:
    """Adds the redirect at the cursor, if there is one."""
    match = _REDIRECT.match(source.text, source.at)
    if match is None:
        return False
    source.at = match.end()
    source.spaces()
    operator, target = match[2], read_word(source)
    if not target.parts:
        raise Unreadable("a redirect without a target")
    if operator in ("<<", "<<-"):
        redirects.append(Redirect(operator, target, match[1] or ""))
        source.heredocs.append((target, operator == "<<-", redirects[-1].texts))
    elif operator == "<<<":
        redirects.append(Redirect(operator, None, match[1] or "", [target]))
    else:
        redirects.append(Redirect(operator, target, match[1] or ""))
    return True


def _assignment(source: Source, assignments: list[Assignment], words: list[Word]) -> bool:
    """An assignment at the cursor; after `declare` and its like it also stays a word."""
    text, start = source.text, source.at
    index = None
    match = _ASSIGN.match(text, start)
    if match is None and (indexed := _INDEXED.match(text, start)):
        source.at = indexed.end()
        index = whole_word(balanced(source, "[", "]"), source)
        match = _EQUALS.match(text, source.at)
        name = indexed[1]
    elif match:
        name = match[1]
    if match is None:
        source.at = start
        return False
    source.at = match.end()
    value = _array(source) if source.peek() == "(" else read_word(source)
    assignments.append(Assignment(name, value, match[2] == "+=", index))
    return True


def _array(source: Source) -> tuple[Word, ...]:
    source.at += 1
    words: list[Word] = []
    while True:
        source.blank_lines()
        if source.peek() == ")":
            source.at += 1
            return tuple(words)
        words.append(read_word(source))
        if not words[-1].parts:
            raise Unreadable("an array that does not end")
