"""What bash text consists of. Pure data; `src` is the text a word was read from."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Literal:
    """Plain text. Only unquoted text takes part in brace, tilde and pathname expansion."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name…}`; `operator` and `operand` are what follows the name, unexpanded."""

    name: str
    quoted: bool
    operator: str = ""
    operand: str = ""
    index: "Word | None" = None
    indirect: bool = False
    length: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, backquotes, `<(…)` (`kind` "<") and `>(…)` (`kind` ">")."""

    script: "Script"
    quoted: bool
    kind: str = "$"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`: `word` holds the text, with the substitutions that run inside it."""

    word: "Word"
    quoted: bool = True


Part = Literal | Parameter | Substitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    parts: tuple[Part, ...]
    src: str = ""

    @property
    def plain(self) -> str | None:
        """The text, if the word is unquoted and literal: what may be a keyword or an alias."""
        if any(not isinstance(part, Literal) or part.quoted for part in self.parts):
            return None
        return "".join(part.text for part in self.parts if isinstance(part, Literal))


@dataclass(frozen=True, slots=True)
class Redirect:
    """`operator` as written. `texts` holds a heredoc's or herestring's text, once it has been read."""

    operator: str
    target: Word | None
    descriptor: str = ""
    texts: list[Word] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Assignment:
    name: str
    value: Word | tuple[Word, ...]
    append: bool = False
    index: Word | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple["Command", ...]


@dataclass(frozen=True, slots=True)
class AndOr:
    """`first`, then each (operator, command) with operator `&&` or `||`."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    items: tuple[AndOr, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Branches:
    """`if`: conditions and bodies; the last condition is None for `else`."""

    arms: tuple[tuple[Script | None, Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """`for`, `select`, `while`, `until`, and `for ((…))` (`words` None, `condition` None)."""

    body: Script
    variable: str = ""
    words: tuple[Word, ...] | None = None
    condition: Script | None = None
    arithmetic: Word | None = None
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    subject: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: "Command"


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ … ]]` and `(( … ))`: words of which only the substitutions matter."""

    words: tuple[Word, ...] = field(default=())
    redirects: tuple[Redirect, ...] = ()


Command = Simple | Group | Branches | Loop | Case | Function | Test
