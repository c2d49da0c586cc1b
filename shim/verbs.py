"""Patterns over the words of a command line that are not options: `"get|list *"`, `"* describe-*"`."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache

import msgspec

from sekisho.core.action import SEVERITY, Effect
from shim.text import known


class Token(msgspec.Struct, frozen=True):
    """What one word may be."""

    literal: frozenset[str]
    glob: re.Pattern[str] | None

    def fits(self, word: str) -> bool:
        if word in self.literal:
            return True
        return self.glob is not None and known(word) and self.glob.match(word) is not None


class Verb(msgspec.Struct, frozen=True):
    """A pattern and its effect. The highest `rank` of those that match decides."""

    pattern: str
    effect: Effect
    tokens: tuple[Token, ...]
    rank: tuple[int, tuple[int, ...], int, int]


class Verbs:
    """The verbs of a tool, the highest first, found by their first word: some tools have hundreds."""

    def __init__(self, patterns: Iterable[tuple[str, Effect]]) -> None:
        ranked = [
            Verb(pattern, effect, tokens(pattern), _rank(pattern, effect, place))
            for place, (pattern, effect) in enumerate(patterns)
        ]
        ranked.sort(key=lambda verb: verb.rank, reverse=True)
        self.any = bool(ranked)
        self._by_first: dict[str, list[Verb]] = {}
        self._others: list[Verb] = []
        for verb in ranked:
            if not verb.tokens or verb.tokens[0].glob is not None:
                self._others.append(verb)
                continue
            for word in verb.tokens[0].literal:
                self._by_first.setdefault(word, []).append(verb)

    def best(self, words: Sequence[str]) -> Verb | None:
        """The longest and most literal that matches, of those the most severe, of those the first."""
        found = next((verb for verb in self._by_first.get(words[0], ()) if fit(verb.tokens, words)), None)
        for verb in self._others:
            if found is not None and verb.rank < found.rank:
                break
            if fit(verb.tokens, words):
                return verb
        return found


def fit(wanted: Sequence[Token], words: Sequence[str]) -> bool:
    """Whether the words begin as wanted."""
    return len(wanted) <= len(words) and all(map(Token.fits, wanted, words))


@cache  # of the grammar's own patterns
def tokens(pattern: str) -> tuple[Token, ...]:
    return tuple(_token(text) for text in pattern.split())


def _token(text: str) -> Token:
    choices = text.split("|")
    globs = [choice for choice in choices if any(mark in choice for mark in "*?[")]
    glob = re.compile("|".join(map(translate, globs))) if globs else None
    return Token(frozenset(choices).difference(globs), glob)


def _rank(pattern: str, effect: Effect, place: int) -> tuple[int, tuple[int, ...], int, int]:
    parts = pattern.split()
    literal = tuple(0 if part == "*" else (1 if "*" in part else 2) for part in reversed(parts))
    return len(parts), literal, SEVERITY[effect], -place
