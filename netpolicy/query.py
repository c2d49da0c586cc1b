"""Query strings and forms, with every key as often as it stands there. Pure."""

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote_to_bytes


def _decode(text: str) -> str:
    spaced = text.replace("+", " ")
    if "%" not in spaced:
        return spaced
    return unquote_to_bytes(spaced.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


def _folded(key: str) -> str:
    return key.strip().casefold()


@lru_cache(maxsize=512)  # of the keys in the rules, which are the same for every request
def _wanted(keys: tuple[str, ...]) -> frozenset[str]:
    return frozenset([key.casefold() for key in keys])


class Query:
    """Parameters in wire order, decoded once. Keys keep their case; lookups ignore it when asked to."""

    __slots__ = ("names", "pairs")

    def __init__(self, text: str = "") -> None:
        pairs = []
        for part in text.split("&") if text else ():
            key, _, value = part.partition("=")
            if key or value:
                pairs.append((_decode(key), _decode(value)))
        self.pairs: tuple[tuple[str, str], ...] = tuple(pairs)
        self.names = frozenset([_folded(key) for key, _ in pairs])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def all(self, *keys: str) -> list[str]:
        """Every value of any of `keys`, in any case: a server may take the first, the last or either."""
        if not self.names or self.names.isdisjoint(wanted := _wanted(keys)):
            return []
        return [value for key, value in self.pairs if _folded(key) in wanted]

    def has(self, *keys: str) -> bool:
        """Whether any of `keys` occurs, in any case."""
        return bool(self.names) and not self.names.isdisjoint(_wanted(keys))

    def exactly(self, key: str) -> str | None:
        """The value of a key that occurs once and in this spelling, else None."""
        values = self.all(key)
        return values[0] if len(values) == 1 and (key, values[0]) in self.pairs else None
