"""What a `git commit` command line would commit. Pure; options as in git-commit(1)."""

from collections.abc import Iterator, Sequence

import msgspec

_GLOBAL_VALUES = frozenset({"-c", "--namespace", "--super-prefix", "--config-env", "--attr-source"})
_ELSEWHERE = ("--git-dir", "--work-tree")
_VALUES = (
    *("--message", "--file", "--reuse-message", "--reedit-message", "--fixup", "--squash", "--template"),
    *("--author", "--date", "--cleanup", "--trailer", "--pathspec-from-file"),
)
_FLAGS = ("--all", "--amend", "--include", "--only", "--patch", "--interactive", "--dry-run")
_SHORT_VALUES = "mFCct"
_SHORT_GLUED = "uS"


class CommitCall(msgspec.Struct, frozen=True, kw_only=True):
    """`folders` are those of -C in order; `worktree`: edited files go in besides what is staged, all or
    those of `paths` (pathspecs, relative to the folder); `only` leaves out what else is staged.
    `message` is what stands on the command line.
    """

    folders: tuple[str, ...] = ()
    worktree: bool = False
    paths: tuple[str, ...] = ()
    only: bool = False
    amend: bool = False
    message: str = ""


def parse(argv: Sequence[str]) -> CommitCall | None:
    """The call in `argv`; None where it is no commit, commits nothing, or names another repository."""
    words = iter(argv[1:])
    folders: list[str] = []
    for word in words:
        if word == "-C":
            folders.append(next(words, ""))
        elif word in _GLOBAL_VALUES:
            next(words, "")
        elif word.startswith(_ELSEWHERE):
            return None
        elif not word.startswith("-"):
            return _commit(words, tuple(folders)) if word == "commit" else None
    return None


def _commit(words: Iterator[str], folders: tuple[str, ...]) -> CommitCall | None:
    flags: set[str] = set()
    paths: list[str] = []
    messages: list[str] = []
    for word in words:
        if word == "--":
            paths.extend(words)
        elif word.startswith("--"):
            _long(word, words, flags, messages)
        elif word.startswith("-") and len(word) > 1:
            _short(word[1:], words, flags, messages)
        else:
            paths.append(word)
    if "--dry-run" in flags:
        return None
    edited = bool(flags & {"--all", "--patch", "--interactive", "--include", "--pathspec-from-file"})
    return CommitCall(
        folders=folders,
        worktree=edited or bool(paths),
        paths=() if flags & {"--all", "--pathspec-from-file"} else tuple(paths),
        only=bool(paths) and not edited,
        amend="--amend" in flags,
        message="\n".join(messages),
    )


def _long(word: str, words: Iterator[str], flags: set[str], messages: list[str]) -> None:
    name, equals, value = word.partition("=")
    full = next((known for known in (*_VALUES, *_FLAGS) if known == name), None)
    if full is None:  # an abbreviation; where it is ambiguous git refuses it
        full = next((known for known in (*_VALUES, *_FLAGS) if known.startswith(name)), name)
    flags.add(full)
    if full in _VALUES:
        given = value if equals else next(words, "")
        if full in ("--message", "--trailer"):
            messages.append(given)


def _short(cluster: str, words: Iterator[str], flags: set[str], messages: list[str]) -> None:
    names = {"a": "--all", "p": "--patch", "i": "--include", "o": "--only"}
    for at, letter in enumerate(cluster):
        if letter in _SHORT_VALUES:
            given = cluster[at + 1 :] or next(words, "")
            if letter == "m":
                messages.append(given)
            return
        if letter in _SHORT_GLUED:
            return
        flags.add(names.get(letter, ""))
