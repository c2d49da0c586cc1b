"""Where strings and comments of code are: what is in them is no call.

Of hostile text each character is looked at a few times at most: what is repeated gives nothing back (`*+`).
"""

import re
from collections.abc import Iterator

_OPENING = re.compile(r"['\"`]|\bq[qwx]?\s*+[({/]|%[wWqQx]?[(\[{]")
_CLOSED = {
    **{mark: re.compile(rf"(?:\\.|[^{mark}\\])*+{mark}", re.DOTALL) for mark in "'\"`"},
    "(": re.compile(r"[^)]*+\)"),
    "[": re.compile(r"[^\]]*+\]"),
    "{": re.compile(r"[^}]*+\}"),
    "/": re.compile(r"[^/]*+/"),
}


def strings(text: str) -> Iterator[tuple[int, int]]:
    """Where strings begin and end. A mark without its end is a character like others, and so are all later
    ones of its kind: there is no end after them, either."""
    at, unclosed = 0, set[str]()
    while opening := _OPENING.search(text, at):
        mark = opening[0][-1]
        closed = None if mark in unclosed else _CLOSED[mark].match(text, opening.end())
        if closed is None:
            unclosed.add(mark)
            at = opening.start() + 1
        else:
            at = closed.end()
            yield opening.start(), at


def without_comments(code: str) -> str:
    """Each `/* … */` as a blank."""
    kept, at = [], 0
    while (start := code.find("/*", at)) >= 0 and (end := code.find("*/", start + 2)) >= 0:
        kept.append(code[at:start])
        at = end + 2
    return " ".join([*kept, code[at:]])
