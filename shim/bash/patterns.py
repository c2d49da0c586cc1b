"""Shell patterns, braces and parameter operators: pure text functions."""

import re
from itertools import product

from shim.text import HOLE

MAX_BRACES = 200


def pattern_regex(pattern: str) -> str:
    """A shell pattern as a regular expression (unanchored)."""
    out, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        end = pattern.find("]", at + 2) if char == "[" else -1
        if end > 0:
            body = pattern[at + 1 : end].replace("\\", "\\\\")
            out += "[" + ("^" + body[1:] if body[0] in "!^" else body) + "]"
            at = end
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            out += re.escape(pattern[at])
        else:
            out += {"*": ".*", "?": "."}.get(char, re.escape(char))
        at += 1
    return out


def trim(value: str, operator: str, pattern: str) -> str:
    """`${value#pattern}` and its three relatives."""
    regex = re.compile(pattern_regex(pattern), re.DOTALL)
    lengths = range(len(value) + 1)
    if operator in ("##", "%"):
        lengths = range(len(value), -1, -1)
    for length in lengths:
        part = value[:length] if operator[0] == "#" else value[length:]
        if regex.fullmatch(part):
            return value[length:] if operator[0] == "#" else value[:length]
    return value


def substitute(value: str, operator: str, pattern: str, replacement: str) -> str:
    """`${value/pattern/replacement}`; `//` all, `/#` at the start, `/%` at the end."""
    regex = pattern_regex(pattern)
    if operator == "/#":
        regex = r"\A" + regex
    elif operator == "/%":
        regex += r"\Z"
    count = 0 if operator == "//" else 1
    return re.sub(regex, lambda _: replacement, value, count=count, flags=re.DOTALL)


def change_case(value: str, operator: str) -> str:
    """`^`, `^^`, `,` and `,,`."""
    change = str.upper if operator[0] == "^" else str.lower
    return change(value) if len(operator) == 2 else change(value[:1]) + value[1:]


def substring(value: str, operand: str) -> str:
    """`${value:offset:length}`, with literal numbers; anything else is not known."""
    numbers = [number.strip() for number in operand.split(":")]
    if len(numbers) > 2 or not all(re.fullmatch(r"-?\d+", number) for number in numbers):
        return HOLE
    start = int(numbers[0])
    start = max(len(value) + start, 0) if start < 0 else start
    if len(numbers) == 1:
        return value[start:]
    length = int(numbers[1])
    return value[start : len(value) + length] if length < 0 else value[start : start + length]


def split_braces(atoms: list[object]) -> list[list[object]]:
    """Brace expansion over a list in which unquoted characters are `str` and all else is opaque."""
    for start, atom in enumerate(atoms):
        if atom != "{" or (start and atoms[start - 1] == "$"):
            continue
        choices, end = _choices(atoms, start)
        if choices is None:
            continue
        tails = split_braces(atoms[end:])
        heads = [atoms[:start] + inner for choice in choices for inner in split_braces(choice)]
        return [head + tail for head, tail in list(product(heads, tails))[:MAX_BRACES]]
    return [atoms]


def _choices(atoms: list[object], start: int) -> tuple[list[list[object]] | None, int]:
    depth = 0
    choices: list[list[object]] = [[]]
    for at in range(start + 1, len(atoms)):
        atom = atoms[at]
        if atom == "}" and not depth:
            if len(choices) > 1:
                return choices, at + 1
            return _sequence(choices[0]), at + 1
        depth += {"{": 1, "}": -1}.get(atom, 0) if isinstance(atom, str) else 0
        if atom == "," and not depth:
            choices.append([])
        else:
            choices[-1].append(atom)
    return None, start


def _sequence(inner: list[object]) -> list[list[object]] | None:
    text = "".join(atom for atom in inner if isinstance(atom, str))
    match = re.fullmatch(r"(-?\d{1,6}|[a-zA-Z])\.\.(-?\d{1,6}|[a-zA-Z])(?:\.\.(-?\d{1,4}))?", text)
    if match is None or len(text) != len(inner) or match[1].isalpha() != match[2].isalpha():
        return None
    letters = match[1].isalpha()
    first, last = (ord(match[1]), ord(match[2])) if letters else (int(match[1]), int(match[2]))
    step = abs(int(match[3] or 1)) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [list(chr(n) if letters else str(n)) for n in numbers[:MAX_BRACES]]
