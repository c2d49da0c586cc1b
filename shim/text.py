"""Texts of which parts are known. No argument can hold NUL, so NUL stands for what is not known."""

from collections.abc import Sequence

HOLE = "\0"  # some text, in one argument
WILD = "\0\0"  # some text that the shell may split into any number of arguments


def known(text: str | None) -> bool:
    """True if every part of the text is known."""
    return text is not None and HOLE not in text


def shown_each(words: Sequence[str]) -> list[str]:
    """Each word as `shown` would have it."""
    line, given = " ".join(words), list(words)
    # Nearly all words are as they are shown: without blanks, and known.
    return given if HOLE not in line and line.split() == given else [shown(word) for word in given]


def shown(text: str) -> str:
    """The text as it is shown to a person: one line, what is not known as an ellipsis."""
    if HOLE in text:
        text = text.replace(WILD, "…").replace(HOLE, "…")
    return " ".join(text.split())
