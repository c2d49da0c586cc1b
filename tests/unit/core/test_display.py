"""Hostile text before a person's eyes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.display import one_line, suspicious, visible


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\r", "\x07", "\x00", "\x08", "\x7f", "\x9b", "\x85", "\u202e", "\u202d", "\u2066",
     "\u2069", "\u200e",
     "\u061c", "\u200b", "\u200d", "\ufeff", "\u2060", "\u00ad", "\u2028", "\u2029", "\U000e0041", "\ufe0f",
     "\U000e0101", "\u3164", "\u2800", "\ud800", "\ue000", "\ufffe"],
)  # fmt: skip
def test_deceptive_character_is_spelled_out(character: str) -> None:
    assert visible(f"a{character}b") == f"a<U+{ord(character):04X}>b"
    assert suspicious(f"a{character}b")


@pytest.mark.parametrize(
    "text",
    ["plain", "größer", "関所を通る", "привет мир", "καλημέρα", "a\tb\nc", "naïve café", "👍", "日本 x"],
)
def test_ordinary_text_stays(text: str) -> None:
    assert visible(text) == text
    assert not suspicious(text)


def test_letter_posing_as_another_is_spelled_out() -> None:
    assert visible("g\u0456thub.com") == "g<U+0456>thub.com"
    assert suspicious("p\u0430ypal")


def test_stacked_marks_are_spelled_out() -> None:
    assert visible("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "<U+0301>" * 2


def test_long_line_is_cut_with_its_length() -> None:
    assert visible("x" * 50 + "\nshort", 10) == "x" * 10 + "… [cut: the line has 50 characters]\nshort"
    assert visible("x" * 10, 10) == "x" * 10


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\n b\tc\r ") == "a b c<U+000D>"


@given(st.text(st.characters()), st.integers(1, 30))
def test_nothing_a_terminal_obeys_is_left(text: str, limit: int) -> None:
    shown = visible(text, limit)
    assert all(
        character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for character in shown
    )
    assert shown.count("\n") == text.count("\n")
    assert all(len(line) <= limit + 60 for line in shown.split("\n"))
