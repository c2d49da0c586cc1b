"""The table the client asks while no gatekeeper answers, compiled from the grammar.

Lines: `tool NAME +|-` (what is not listed runs, or does not), `v OPTION` (takes the next word), `g WORDS`
(does not run), `r WORDS` (runs), `o VERB OPTION` (does not run with that option), `g -` and `r -` (without
any word). `*` in a word stands for any text; more words win over fewer.
"""

from collections.abc import Iterable, Iterator

from sekisho.core.action import Effect
from shim.context import Context
from shim.grammar import Tool, tool
from shim.handlers.git.verbs import VERBS
from shim.observe import observe
from shim.suites import NAMES, OFTEN

# The closed network stops them by itself; so it does what is announced for the record alone.
_INSPECTED = frozenset(("curl", "wget", "http", "https", "xh"))
_ALIASED = {
    "gh": "gh-verbs",
    "glab": "glab-verbs",
    "npm": "npm-verbs",
    "pnpm": "npm-verbs",
    "yarn": "npm-verbs",
}
_PROBES = ((), ("host", "word"), ("word", "host:path"))  # a tool with a language of its own: its worst use
_RUN = (Effect.READ, Effect.LOCAL)
_GIT_PAIRS = (
    ("reset", "--hard"), ("reset", "--merge"), ("checkout", "-f"), ("checkout", "--force"), ("switch", "-f"),
    ("switch", "--discard-changes"), ("clean", "-f"), ("clean", "--force"), ("branch", "-D"), ("stash", (
        "drop"
    )),
)  # fmt: skip
_GIT_WORDS = ("svn dcommit", "svn commit-diff", "lfs push", "subtree push", "p4 submit", "stash drop", (
    "stash clear"
),
              "reflog expire", "reflog delete", "checkout .", "restore .")  # fmt: skip


def table(names: Iterable[str]) -> str:
    """The table for the tools the client stands in front of."""
    return "\n".join(line for name in sorted(set(names)) for line in _lines(name)) + "\n"


def _lines(name: str) -> Iterator[str]:
    if name == "git":
        yield from _git()
        return
    known = tool(_ALIASED.get(name, name))
    if name in _INSPECTED or name in NAMES or name in OFTEN:
        yield f"tool {name} +"
    elif known is None:
        yield f"tool {name} {'+' if all(_effect(name, *words) in _RUN for words in _PROBES) else '-'}"
    else:
        yield from _from_grammar(name, known)


def _from_grammar(name: str, known: Tool) -> Iterator[str]:
    yield f"tool {name} {'+' if known.default in _RUN else '-'}"
    yield from (f"v {option}" for option in known.values.split())
    bare = known.bare if known.bare is not None else known.default
    yield f"{'r' if bare in _RUN else 'g'} -"
    for pattern, effect in known.patterns():
        yield f"{'r' if effect in _RUN else 'g'} {pattern}"
    for rule in known.raises:
        if rule.effect not in _RUN and rule.value == "*":
            verbs = [verb.split()[0] for verb in rule.verbs] or sorted(
                {p.split()[0] for p, _ in known.patterns()}
            )
            yield from (f"o {verb} {option}" for verb in verbs for option in rule.option.split())


def _git() -> Iterator[str]:
    yield "tool git +"
    yield from (f"v {option}" for option in ("-C", "-c", "--git-dir", "--work-tree", "--namespace"))
    for verb in sorted(VERBS):
        if _effect("git", verb) is Effect.EXTERNAL:
            yield f"g {verb}"
    for words in _GIT_WORDS:
        if _effect("git", *words.split()) not in _RUN:
            yield f"g {words}"
    for verb, option in _GIT_PAIRS:
        if option.startswith("-") and _effect("git", verb, option) not in _RUN:
            yield f"o {verb} {option}"


def _effect(*argv: str) -> Effect:
    return observe(argv, Context(cwd="/work")).effect
