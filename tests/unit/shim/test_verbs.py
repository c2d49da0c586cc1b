"""The verb that decides is found as if each pattern were tried in turn."""

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.action import SEVERITY, Effect
from shim.grammar import tools
from shim.text import HOLE
from shim.verbs import Verbs, fit, tokens

PARTS = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "a|b", "a|b*", "?", "[ab]"])
PATTERNS = st.lists(
    st.tuples(st.lists(PARTS, min_size=1, max_size=3).map(" ".join), st.sampled_from(Effect)), max_size=8
)
WORDS = st.lists(
    st.sampled_from(["a", "b", "ab", "abb", "c", "", f"a{HOLE}", "a\nb"]), min_size=1, max_size=4
)


def one_by_one(patterns: list[tuple[str, Effect]], words: list[str]) -> tuple[str, Effect] | None:
    def matches(pattern: str) -> bool:
        parts = pattern.split()
        return len(parts) <= len(words) and all(
            HOLE not in word and any(fnmatchcase(word, choice) for choice in part.split("|"))
            for part, word in zip(parts, words, strict=False)
        )

    def rank(pattern: str, effect: Effect) -> tuple[int, list[int], int]:
        parts = pattern.split()
        literal = [0 if part == "*" else 1 if "*" in part else 2 for part in reversed(parts)]
        return len(parts), literal, SEVERITY[effect]

    return max((one for one in patterns if matches(one[0])), key=lambda one: rank(*one), default=None)


@given(patterns=PATTERNS, words=WORDS)
def test_the_longest_and_most_literal_decides(patterns: list[tuple[str, Effect]], words: list[str]) -> None:
    found = Verbs(patterns).best(words)
    assert (found and (found.pattern, found.effect)) == one_by_one(patterns, words)


def test_the_verbs_of_the_grammar_are_found_likewise() -> None:
    for tool in {id(one): one for one in tools().values()}.values():
        for pattern, _ in tool.patterns():
            words = [part.split("|")[0].replace("*", "x") for part in pattern.split()]
            found = tool.verbs.best(words)
            assert found is not None
            assert (found.pattern, found.effect) == one_by_one(tool.patterns(), words)


def test_what_is_not_known_is_no_word() -> None:
    assert fit(tokens("a *"), ["a", "b"])
    assert not fit(tokens("a *"), ["a", HOLE])
    assert not fit(tokens("a *"), ["a"])
