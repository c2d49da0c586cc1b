"""Which git commands make no sense in place, and what to do instead. Pure.

Inside, git has a folder of the session's own: such a command would seem to work there, and be lost.
"""

from collections.abc import Callable, Sequence

_OPTIONS_WITH_VALUE = frozenset(
    {"-C", "-c", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
)
_OUTSIDE = "do it outside the sandbox, or write the command into the handoff for the person"
_READS_CONFIG = (
    *("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool"),
    *("--list", "-l", "get", "list"),
)
_CHANGES_CONFIG = (
    *("--unset", "--unset-all", "--add", "--replace-all", "--rename-section", "--remove-section"),
    *("--edit", "-e", "set", "unset", "rename-section", "remove-section", "edit"),
)
_OTHER_FILE = ("--global", "--system", "--file", "-f", "--blob")


def explain_failure(argv: Sequence[str]) -> str | None:
    """Why a command cannot do in place what it says, and the way on; None where it can."""
    verb, rest = _verb(argv)
    rule = _RULES.get(verb)
    what = rule(rest) if rule else None
    return f"{what}, and in place those stay the person's: {_OUTSIDE}" if what else None


def _verb(argv: Sequence[str]) -> tuple[str, list[str]]:
    if argv[0].rpartition("/")[2] != "git":
        return "", []
    words = iter(argv[1:])
    for word in words:
        if word in _OPTIONS_WITH_VALUE:
            next(words, "")
        elif word.startswith(("--git-dir", "--work-tree")):
            return "", []  # another repository
        elif not word.startswith("-"):
            return word, list(words)
    return "", []


def _has(rest: Sequence[str], *names: str) -> bool:
    return any(word in names or word.partition("=")[0] in names for word in rest)


def _config(rest: Sequence[str]) -> str | None:
    if _has(rest, *_OTHER_FILE) or any(word.startswith("-f") for word in rest):
        return None
    words = [word for word in rest if not word.startswith("-")]
    changing = _has(rest, *_CHANGES_CONFIG) or (len(words) > 1 and not _has(rest, *_READS_CONFIG))
    return "it changes the repository's settings" if changing else None


def _words(*names: str, what: str) -> Callable[[Sequence[str]], str | None]:
    def rule(rest: Sequence[str]) -> str | None:
        first = next((word for word in rest if not word.startswith("-")), "")
        return what if first in names else None

    return rule


def _branch(rest: Sequence[str]) -> str | None:
    names = ("--set-upstream-to", "--set-upstream", "--unset-upstream", "--edit-description", "--track")
    if _has(rest, *names) or any(word[:2] in ("-u", "-t") for word in rest):
        return "upstream and description of a branch are settings of the repository"
    return None


def _track(rest: Sequence[str]) -> str | None:
    if _has(rest, "--track") or "-t" in rest:
        return "the upstream of a branch is a setting of the repository"
    return None


_RULES: dict[str, Callable[[Sequence[str]], str | None]] = {
    "config": _config,
    "branch": _branch,
    "checkout": _track,
    "switch": _track,
    "remote": _words(
        *("add", "rename", "remove", "rm", "set-url", "set-head", "set-branches"),
        what="remotes are settings of the repository",
    ),
    "submodule": _words(
        *("add", "init", "update", "deinit", "set-branch", "set-url", "sync", "absorbgitdirs"),
        what="a submodule has its git folder and its settings in the repository",
    ),
    "worktree": _words(
        *("add", "remove", "move", "prune", "lock", "unlock", "repair"),
        what="worktrees are kept in the repository",
    ),
    "sparse-checkout": _words(
        *("set", "add", "init", "disable", "reapply"),
        what="what is checked out is a setting of the repository",
    ),
    "maintenance": _words(
        *("start", "stop", "register", "unregister"),
        what="maintenance is a setting of the repository",
    ),
}
