"""Shell patterns, braces and parameter operators: pure text functions."""

import re
from itertools import product

from shim.bash.effort import Effort
from shim.bash.globs import Glob
from shim.text import HOLE

MAX_BRACES = 200


def trim(value: str, operator: str, pattern: str, effort: Effort) -> str:
    """`${value#pattern}` and its three relatives."""
    backwards = operator[0] == "%"
    text = value[::-1] if backwards else value
    glob = Glob(pattern, effort, backwards=backwards)
    end = glob.longest(text) if len(operator) == 2 else next(glob.ends(text), None)
    if end is None:
        return value
    return value[: len(value) - end] if backwards else value[end:]


def substitute(value: str, operator: str, pattern: str, replacement: str, effort: Effort) -> str:
    """`${value/pattern/replacement}`; `//` all, `/#` at the start, `/%` at the end.

    A hole where bash versions differ (`&`), or where it grows beyond all use.
    """
    if "&" in replacement:
        return HOLE
    if operator in ("/#", "/%"):
        rest = trim(value, operator[1] * 2, pattern, effort)
        if rest == value and not _matches_nothing(pattern):
            return value
        return replacement + rest if operator == "/#" else rest + replacement
    if not pattern:
        return value
    return _replaced(value, Glob(pattern, effort), replacement, operator == "//", effort)


def _matches_nothing(pattern: str) -> bool:
    return not pattern.strip("*")


def _replaced(value: str, glob: Glob, replacement: str, every: bool, effort: Effort) -> str:
    """The longest match from the left on, or each, replaced."""
    if not value:
        return value if glob.longest(value) is None else replacement
    out: list[str] = []
    size, at = 0, 0
    while at < len(value):
        end = glob.longest(value, at)
        out.append(value[at] if end is None else replacement)
        effort.copy(len(out[-1]))
        size += len(out[-1])
        if size > effort.largest:
            return HOLE
        at = at + 1 if end is None else end
        if end is not None and not every:
            break
    return "".join(out) + value[at:]


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


def split_braces(atoms: list[object], effort: Effort) -> tuple[list[list[object]], bool]:
    """Brace expansion over a list in which unquoted characters are `str` and all else is opaque; and whether
    there is more of it than is told."""
    for start, atom in enumerate(atoms):
        if atom != "{" or (start and atoms[start - 1] == "$"):
            continue
        effort.spend(len(atoms) - start)
        choices, end = _choices(atoms, start)
        if choices is not None:
            return _products(atoms[:start], choices, atoms[end:], effort)
    return [atoms], False


def _products(
    before: list[object], choices: list[list[object]], after: list[object], effort: Effort
) -> tuple[list[list[object]], bool]:
    tails, more = split_braces(after, effort)
    more = more or len(choices) > MAX_BRACES
    out: list[list[object]] = []
    for choice in choices[:MAX_BRACES]:
        heads, cut = split_braces(choice, effort)
        more = more or cut
        for head, tail in product(heads, tails):
            if len(out) == MAX_BRACES:
                return out, True
            out.append([*before, *head, *tail])
            effort.copy(len(out[-1]))
    return out, more


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
    return [list(chr(n) if letters else str(n)) for n in numbers[: MAX_BRACES + 1]]
