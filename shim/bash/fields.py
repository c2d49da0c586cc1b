"""Word splitting: arguments put together from the parts of a word."""

from shim.bash.effort import Effort
from shim.text import HOLE, WILD


class Fields:
    """`separators` are those of `IFS`; None where it is not set. A field that grows too large is a hole."""

    def __init__(self, separators: str | None, effort: Effort) -> None:
        self.separators = " \t\n" if separators is None else separators
        self.effort = effort
        self.out: list[str] = []
        self.current: list[str] | None = None

    def add(self, text: str) -> None:
        if self.current is None:
            self.current = [text]
        else:
            self.current.append(text)

    def end(self) -> None:
        if self.current is not None:
            whole = self.current[0] if len(self.current) == 1 else "".join(self.current)
            self.effort.copy(len(whole))
            whole = whole if len(whole) <= self.effort.largest else HOLE
            self.out.append(WILD if whole == WILD else whole.replace(WILD, HOLE))
        self.current = None

    def several(self, items: tuple[str, ...]) -> None:
        for position, item in enumerate(items):
            if position:
                self.end()
            self.add(item)

    def split(self, value: str) -> None:
        """An unquoted expansion: blanks in it end a word."""
        if value in (HOLE, WILD):
            self.add(WILD)
            return
        if value[:1] and value[0] in self.separators:
            self.end()
        self.several(self.pieces(value))
        if value[-1:] and value[-1] in self.separators:
            self.end()

    def pieces(self, value: str) -> tuple[str, ...]:
        self.effort.spend(len(value) // 2)
        blank = str.maketrans(dict.fromkeys(self.separators, " "))
        if set(self.separators) <= set(" \t\n"):
            return tuple(value.split()) if self.separators else (value,)
        return tuple(piece for piece in value.translate(blank).split(" ") if piece)
