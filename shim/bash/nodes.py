"""What bash text consists of. Pure data; `src` is the text a word was read from."""

import msgspec


class Literal(msgspec.Struct, frozen=True):
    """Plain text. Only unquoted text takes part in brace, tilde and pathname expansion."""

    text: str
    quoted: bool


class Parameter(msgspec.Struct, frozen=True):
    """`$name` or `${name…}`; `operator` and `operand` are what follows the name, unexpanded."""

    name: str
    quoted: bool
    operator: str = ""
    operand: str = ""
    index: "Word | None" = None
    indirect: bool = False
    length: bool = False


class Substitution(msgspec.Struct, frozen=True):
    """`$(…)`, backquotes, `<(…)` (`kind` "<") and `>(…)` (`kind` ">")."""

    script: "Script"
    quoted: bool
    kind: str = "$"


class Arithmetic(msgspec.Struct, frozen=True):
    """`$((…))`: `word` holds the text, with the substitutions that run inside it."""

    word: "Word"
    quoted: bool = True


Part = Literal | Parameter | Substitution | Arithmetic


class Word(msgspec.Struct, frozen=True):
    parts: tuple[Part, ...]
    src: str = ""

    @property
    def plain(self) -> str | None:
        """The text, if the word is unquoted and literal: what may be a keyword or an alias."""
        if any(not isinstance(part, Literal) or part.quoted for part in self.parts):
            return None
        return "".join(part.text for part in self.parts if isinstance(part, Literal))


class Redirect(msgspec.Struct, frozen=True):
    """`operator` as written. `texts` holds a heredoc's or herestring's text, once it has been read."""

    operator: str
    target: Word | None
    descriptor: str = ""
    texts: list[Word] = []


# Built-ins whose words are read as assignments, too.
DECLARATIONS = frozenset({"export", "declare", "typeset", "local", "readonly"})


class Assignment(msgspec.Struct, frozen=True):
    name: str
    value: Word | tuple[Word, ...]
    append: bool = False
    index: Word | None = None


class Simple(msgspec.Struct, frozen=True):
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Pipeline(msgspec.Struct, frozen=True):
    commands: tuple["Command", ...]


class AndOr(msgspec.Struct, frozen=True):
    """`first`, then each (operator, command) with operator `&&` or `||`."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()


class Script(msgspec.Struct, frozen=True):
    items: tuple[AndOr, ...] = ()


class Group(msgspec.Struct, frozen=True):
    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


class Branches(msgspec.Struct, frozen=True):
    """`if`: conditions and bodies; the last condition is None for `else`."""

    arms: tuple[tuple[Script | None, Script], ...]
    redirects: tuple[Redirect, ...] = ()


class Loop(msgspec.Struct, frozen=True):
    """`for`, `select`, `while`, `until`, and `for ((…))` (`words` None, `condition` None)."""

    body: Script
    variable: str = ""
    words: tuple[Word, ...] | None = None
    condition: Script | None = None
    arithmetic: Word | None = None
    redirects: tuple[Redirect, ...] = ()


class Case(msgspec.Struct, frozen=True):
    subject: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


class Function(msgspec.Struct, frozen=True):
    name: str
    body: "Command"


class Test(msgspec.Struct, frozen=True):
    """`[[ … ]]` and `(( … ))`: words of which only the substitutions matter."""

    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


Command = Simple | Group | Branches | Loop | Case | Function | Test
