"""What is wrong with a policy text."""

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake: where (line from 1, 0 for the text as a whole), what, and the way to mend it."""

    file: str
    line: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class PolicyError(Exception):
    """A policy cannot be used; holds every problem found, in the order of the text."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def nearest(name: str, names: list[str]) -> str:
    """A hint with the nearest of `names`, or with all of them where they are few, or nothing."""
    if close := meant(name, names):
        return close
    return f"one of {', '.join(sorted(names))}" if len(names) <= 12 else ""


def meant(name: str, names: list[str]) -> str:
    """A hint with the nearest of `names`, or nothing."""
    import difflib  # 5 ms that only a mistake has to pay

    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""
