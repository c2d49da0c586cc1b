"""What is known of tools, as data: one TOML file a family, read once.

Names and options are written as texts separated by blanks, verbs as lists of patterns over the words
that are not options (`"s3 ls"`, `"* describe-*"`); the longest and most literal pattern decides.
"""

import tomllib
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib.resources import files

import msgspec

from sekisho.core.action import Effect
from shim.options import Spec, spec
from shim.verbs import Verbs


class Raise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where `option` stands (with a value that matches `value`), the effect is at least `effect`.

    `exactly` sets the effect instead. `verbs` limits it to some verbs, `variable` asks the environment.
    """

    effect: Effect
    option: str = ""
    variable: str = ""
    value: str = "*"
    verbs: list[str] = []
    exactly: bool = False


class Nested(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """After `verb` and `skip` more words the rest is a command.

    `contained`: only what it does outside counts. `image`: the last skipped word names an image, which may
    itself stand for a tool (`alpine/git push`).
    """

    verb: str
    skip: int = 0
    contained: bool = False
    image: bool = False


class Remote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options and variables that send a local tool elsewhere; `local` are the values that do not.

    With `endpoint` the tool is remote anyway, and they may also bring it here.
    """

    endpoint: bool = False
    options: str = ""
    variables: str = ""
    local: str = ""


class Save(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What some verbs write over: the values of `options`, and the `last` of at least so many words.

    `only` names options without one of which what is there is left alone. `clears`: the path is a folder that
    is emptied first.
    """

    verbs: list[str] = []
    options: str = ""
    last: int = 0
    only: str = ""
    clears: bool = False


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    names: str
    values: str = ""
    optional: str = ""
    flags: str = ""
    abbreviate: bool = False
    words: bool = False
    stop: bool = False
    bare: Effect | None = None
    default: Effect = Effect.UNKNOWN
    read: list[str] = []
    local: list[str] = []
    destructive: list[str] = []
    external: list[str] = []
    unknown: list[str] = []
    help: str = ""
    dry_run: str = ""
    acts: list[str] = []
    raises: list[Raise] = []
    outputs: str = ""
    saves: list[Save] = []
    products: bool = False  # it writes programs, bundles and reports, which it can write again
    makes: bool = False  # its words are paths that exist afterwards
    shells: str = ""
    programs: str = ""
    nested: list[Nested] = []
    remote: Remote | None = None
    inspected: bool = False  # its traffic ends on an inspected wire
    why: str = ""

    def spec(self) -> Spec:
        return spec(
            self.values,
            optional=self.optional,
            flags=self.flags,
            abbreviate=self.abbreviate,
            words=self.words,
            stop=self.stop,
        )

    @cached_property
    def verbs(self) -> Verbs:
        return Verbs(self.patterns())

    def patterns(self) -> list[tuple[str, Effect]]:
        """(pattern, effect) of every verb."""
        return [
            (pattern, effect)
            for effect, patterns in (
                (Effect.READ, self.read),
                (Effect.LOCAL, self.local),
                (Effect.DESTRUCTIVE, self.destructive),
                (Effect.EXTERNAL, self.external),
                (Effect.UNKNOWN, self.unknown),
            )
            for pattern in patterns
        ]


class Variable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An environment variable that makes tools run something else.

    `kind` "shell": its value is a command. "unknown": what it names decides. `harmless` are values
    without effect, `tools` patterns of tool names.
    """

    names: str
    tools: str = "*"
    kind: str = "unknown"
    harmless: str = ""


class Wrapper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that runs another.

    `skip` words stand before the command; `shells` are options with shell text.

    `outputs` are options whose values are written, `besides` those with shell text that runs as well; `verbs`
    are words of which one must come first, `commands` programs of which it runs one (a version after `@` is
    not part of a name). The command's own options begin where the first word stands, unless the wrapper
    `permutes`. `joined`: the words are put together and given to a shell. `own` is what the wrapper does
    besides.
    """

    names: str
    values: str = ""
    permutes: bool = False
    skip: int = 0
    shells: str = ""
    outputs: str = ""
    besides: str = ""
    verbs: str = ""
    commands: str = ""
    own: Effect = Effect.READ
    assignments: bool = False
    joined: bool = False

    def spec(self) -> Spec:
        return spec(self.values, stop=not self.permutes)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tool: list[Tool] = []
    variable: list[Variable] = []
    wrapper: list[Wrapper] = []
    table: dict[str, dict[str, str]] = {}


@cache
def names(text: str) -> frozenset[str]:
    """The names in a text of the grammar."""
    return frozenset(text.split())


@cache
def _loaded() -> tuple[_File, ...]:
    texts = sorted(
        (entry.name, entry.read_text("utf-8"))
        for entry in files("shim.grammar").iterdir()
        if entry.name.endswith(".toml")
    )
    return tuple(msgspec.convert(tomllib.loads(text), _File) for _, text in texts)


@cache
def tools() -> dict[str, Tool]:
    """Every tool by name. A name listed twice is a mistake.

    Raises ValueError for such a name.
    """
    found: dict[str, Tool] = {}
    for one in (tool for file in _loaded() for tool in file.tool):
        for name in one.names.split():
            if name in found:
                raise ValueError(f"{name} is listed twice in the grammar")
            found[name] = one
    return found


def tool(name: str) -> Tool | None:
    """What is known of a tool; versions at the end of a name (`python3.11`) are not looked at."""
    return tools().get(name)


def variables() -> list[Variable]:
    return [variable for file in _loaded() for variable in file.variable]


@cache
def wrappers() -> dict[str, Wrapper]:
    """Every wrapper by name."""
    return {name: one for file in _loaded() for one in file.wrapper for name in one.names.split()}


@cache
def table(name: str) -> dict[str, frozenset[str]]:
    """A named table of word lists."""
    for file in _loaded():
        if name in file.table:
            return {key: frozenset(words.split()) for key, words in file.table[name].items()}
    raise KeyError(name)


@cache
def catalogue() -> dict[str, None]:
    """Names of tools, those that write first."""
    return dict.fromkeys(("git", "curl", "rm", *tools()))


def known_names(pattern: str) -> list[str]:
    """Those of them that a pathname pattern matches."""
    return [name for name in catalogue() if fnmatchcase(name, pattern)]
