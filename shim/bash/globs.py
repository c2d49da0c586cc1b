"""Shell patterns (the bash reference manual, "Pattern Matching"), matched without going back.

All ways to match are followed at once, a bit for each place in the pattern, so that a text costs its length
and no pattern can make it more.
"""

from collections.abc import Iterator

from shim.bash.effort import Effort, Unreadable

_PLACES_A_STEP = 512
# One character: itself, any ("?", as ""), or the ranges of a bracket and whether they are excluded.
Bracket = tuple[tuple[tuple[str, str], ...], bool]
Item = str | Bracket


class Glob:
    """A pattern, from its start on, or `backwards` from its end on."""

    def __init__(self, pattern: str, effort: Effort, *, backwards: bool = False) -> None:
        self._effort = effort
        effort.spend(2 * len(pattern))
        tokens = list(_tokens(pattern))
        if backwards:
            tokens.reverse()
        self._loops, self._any = 0, 0
        self._plain: dict[str, int] = {}
        self._ranges = 0
        self._brackets: list[tuple[int, Bracket]] = []
        place = 1
        for token in tokens:
            if token is None:
                self._loops |= place
                continue
            self._add(token, place)
            place <<= 1
        self._accepting = place
        self._cost = 1 + place.bit_length() // _PLACES_A_STEP
        self._masks: dict[str, int] = {}

    def _add(self, item: Item, place: int) -> None:
        if item == "":
            self._any |= place
        elif isinstance(item, str):
            self._plain[item] = self._plain.get(item, 0) | place
        else:
            self._brackets.append((place, item))
            self._ranges += len(item[0])

    def ends(self, text: str, start: int = 0) -> Iterator[int]:
        """Where the matches end that begin at `start`, in order."""
        places = 1
        for at in range(start, len(text)):
            if places & self._accepting:
                yield at
            self._effort.spend(self._cost)
            places = ((places & self._mask(text[at])) << 1) | (places & self._loops)
            if not places:
                return
        if places & self._accepting:
            yield len(text)

    def longest(self, text: str, start: int = 0) -> int | None:
        """Where the longest match from `start` ends."""
        return max(self.ends(text, start), default=None)

    def _mask(self, char: str) -> int:
        mask = self._masks.get(char)
        if mask is None:
            self._effort.spend(self._cost * (1 + self._ranges))
            mask = self._any | self._plain.get(char, 0)
            for place, (ranges, excluded) in self._brackets:
                if any(low <= char <= high for low, high in ranges) != excluded:
                    mask |= place
            self._masks[char] = mask
        return mask


def _tokens(pattern: str) -> Iterator[Item | None]:
    """The pattern's characters; None for a star."""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[" and (end := pattern.find("]", at + (pattern[at : at + 1] in ("!", "^")) + 1)) > 0:
            yield _bracket(pattern[at:end])
            at = end + 1
        elif char == "\\" and at < len(pattern):
            yield pattern[at]
            at += 1
        else:
            yield {"*": None, "?": ""}.get(char, char)


def _bracket(body: str) -> Bracket:
    """The inside of `[…]`. Raises Unreadable for classes and what depends on the language."""
    if "[" in body or "\\" in body:
        raise Unreadable("a pattern with a class in brackets")
    excluded = body[0] in "!^"
    body = body[excluded:]
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(body):
        wide = body[at + 1 : at + 2] == "-" and at + 2 < len(body)
        ranges.append((body[at], body[at + 2] if wide else body[at]))
        at += 3 if wide else 1
    return tuple(ranges), excluded
