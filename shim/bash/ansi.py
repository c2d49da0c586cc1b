"""Reading `$'…'`, the quotes in which backslashes stand for characters.

Grammar: the bash reference manual, section "ANSI-C Quoting".
"""

from shim.bash.cursor import Cursor
from shim.bash.effort import Unreadable

_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
_DIGITS = {"x": (2, 16), "u": (4, 16), "U": (8, 16)}


def ansi_quoted(cursor: Cursor) -> str:
    r"""`$'…'` after its opening quote; the cursor goes behind the closing one."""
    text = ""
    while (char := cursor.take()) != "'":
        text += _escape(cursor) if char == "\\" else char
    return text


def _escape(cursor: Cursor) -> str:
    char = cursor.take()
    if char in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[char]
    if char in _DIGITS:
        limit, base = _DIGITS[char]
        return _number(cursor, "", limit, base)
    if char in "01234567":
        return _number(cursor, char, 3, 8)
    if char == "c":
        return chr(ord(cursor.take()) & 0x1F)
    return char if char in "\\'\"?" else "\\" + char


def _number(cursor: Cursor, digits: str, limit: int, base: int) -> str:
    allowed = "01234567" if base == 8 else "0123456789abcdefABCDEF"
    while len(digits) < limit and cursor.peek() and cursor.peek() in allowed:
        digits += cursor.take()
    if not digits:
        return "\\"
    code = int(digits, base)
    if code > 0x10FFFF:
        raise Unreadable("no such character")
    return chr(code & 0xFF if base == 8 else code)
