"""The headers of a request, grouped once for all that looks at them. Pure.

A client sends the same headers with one request after the other, so what is found in them is kept: by
`of`, and by those who look, each for its own finding (`lru_cache` over `Headers`, which compare by identity).
"""

from functools import cached_property, lru_cache

Pairs = tuple[tuple[str, str], ...]
REMEMBERED = 256  # sets of headers


class Headers:
    """`pairs` in wire order, and values in `fields` by lower-case name; neither is to be changed."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.fields: dict[str, list[str]] = {}
        for name, value in pairs:
            self.fields.setdefault(name.lower(), []).append(value)

    @cached_property
    def text(self) -> str:
        """All of it, a line for each name and value."""
        return "\n".join([part for pair in self.pairs for part in pair])


@lru_cache(maxsize=REMEMBERED)
def of(pairs: Pairs) -> Headers:
    """The headers of a request; the same object for the same ones, while they are remembered."""
    return Headers(pairs)
