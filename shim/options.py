"""Reading a command line as getopt does: clusters, glued values, abbreviations, `--`."""

from functools import cache

import msgspec

from shim.text import HOLE, WILD


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a tool, with their dashes.

    `values` take the next word, `optional` only a glued one. `flags` are long names known besides,
    for abbreviations (`abbreviate`). `words` means that a single dash starts a whole word (`-chdir=x`).
    `stop` ends the options at the first other word.
    """

    values: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    abbreviate: bool = False
    words: bool = False
    stop: bool = False


class Parsed(msgspec.Struct, kw_only=True):
    """`options` in order, with their values; `places` tells where in it each name is.

    Handlers ask for each word of a call, so an answer must not cost as much as there are options.
    """

    options: list[tuple[str, str | None]] = []
    places: dict[str, list[int]] = {}
    words: list[str] = []
    wild: bool = False  # an unknown argument could be any option

    def add(self, name: str, value: str | None) -> None:
        self.places.setdefault(name, []).append(len(self.options))
        self.options.append((name, value))

    def has(self, *names: str) -> bool:
        return not self.places.keys().isdisjoint(names)

    def last(self, *names: str) -> str | None:
        """The value that counts, None if none of the options is there."""
        given = [self.places[name][-1] for name in names if name in self.places]
        return (self.options[max(given)][1] or "") if given else None

    def all(self, *names: str) -> list[str]:
        given = [place for name in set(names) for place in self.places.get(name, ())]
        return [self.options[place][1] or "" for place in sorted(given)]


@cache  # called with what the grammar and the handlers say, never with words of a command
def spec(
    values: str = "",
    *,
    optional: str = "",
    flags: str = "",
    abbreviate: bool = False,
    words: bool = False,
    stop: bool = False,
) -> Spec:
    """A `Spec` from names separated by blanks."""
    return Spec(
        values=frozenset(values.split()),
        optional=frozenset(optional.split()),
        flags=frozenset(flags.split()),
        abbreviate=abbreviate,
        words=words,
        stop=stop,
    )


def parse(arguments: list[str], spec: Spec) -> Parsed:
    """Splits the words after a command's name into options and other words."""
    parsed = Parsed()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            parsed.words += rest
            break
        if word == WILD:
            parsed.wild = True
        if word.startswith("--") and len(word) > 2:
            _long(word, rest, spec, parsed)
        elif word.startswith("-") and len(word) > 1 and not word.startswith("-" + HOLE):
            if spec.words:
                _long(word, rest, spec, parsed)
            else:
                _cluster(word, rest, spec, parsed)
        else:
            parsed.words.append(word)
            if spec.stop:
                parsed.words += rest
                break
    return parsed


def _long(word: str, rest: list[str], spec: Spec, parsed: Parsed) -> None:
    name, equals, value = word.partition("=")
    name = _completed(name, spec)
    if equals:
        parsed.add(name, value)
    elif name in spec.values:
        parsed.add(name, rest.pop(0) if rest else "")
    else:
        parsed.add(name, None)


def _completed(name: str, spec: Spec) -> str:
    known = spec.values | spec.flags | spec.optional
    if not spec.abbreviate or name in known or not name.startswith("--"):
        return name
    matching = [candidate for candidate in known if candidate.startswith(name)]
    return min(matching, key=len) if matching else name


def _cluster(word: str, rest: list[str], spec: Spec, parsed: Parsed) -> None:
    letters = word[1:]
    for position, letter in enumerate(letters):
        name, glued = f"-{letter}", letters[position + 1 :]
        if name in spec.values:
            parsed.add(name, glued or (rest.pop(0) if rest else ""))
            return
        if name in spec.optional:
            parsed.add(name, glued or None)
            return
        parsed.add(name, None)
