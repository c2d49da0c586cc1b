"""Commands that change files of the working tree. Options are those of git 2.39's manual pages."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.context import Kind
from shim.handlers.git.answer import says
from shim.options import Parsed, parse, spec
from shim.text import HOLE, known

_CHECKOUT = spec(
    "-b -B --orphan --conflict --pathspec-from-file",
    flags="--force --detach --track --no-track --guess --ours --theirs --merge --patch --quiet --progress "
    "--overwrite-ignore --ignore-other-worktrees --recurse-submodules --overlay --no-overlay",
    abbreviate=True,
)


def checkout(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _CHECKOUT)
    paths = _checkout_paths(call, rest, parsed)
    if parsed.has("-f", "--force"):
        says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif parsed.has("-B"):
        says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif parsed.has("-p", "--patch", "--pathspec-from-file", "--ours", "--theirs"):
        says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif paths:
        _overwrite_paths(call, paths)
    elif (
        parsed.words
        and HOLE in parsed.words[0]
        and not parsed.has("-b", "--orphan", "--detach", "-t", "--track")
    ):
        call.unknown(parsed.words[0], "it may name a branch or a file", code="dynamic-target")
    else:
        says(call, Effect.LOCAL, "changes the branch, keeping edits")


def _checkout_paths(call: Call, rest: list[str], parsed: Parsed) -> list[str]:
    if "--" in rest:
        return rest[rest.index("--") + 1 :]
    words = parsed.words
    if parsed.has("-b", "-B", "--orphan", "--detach"):
        return []
    if len(words) > 1 and not parsed.has("-t", "--track"):
        return words if _is_path(call, words[0]) else words[1:]
    return [word for word in words if _is_path(call, word)]


def _is_path(call: Call, word: str) -> bool:
    if not known(word) or word == "-":
        return False
    if word in (".", "..", ":/") or word.startswith(("./", "../", ":")) or re.search(r"[*?\[]", word):
        return True
    return call.context.files.kind(call.state.resolve(word)) in (Kind.FILE, Kind.FOLDER)


def _overwrite_paths(call: Call, paths: list[str]) -> None:
    for path in paths:
        absolute = call.state.resolve(path)
        if HOLE in absolute:  # whichever they are, whoever names them wants their edits gone
            says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits of files that cannot be told")
        elif call.context.files.kind(absolute) is Kind.FILE and call.context.files.committed(absolute):
            says(call, Effect.LOCAL, "the file has no uncommitted edits", path)
        else:
            says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", path, code="discards-edits")


_SWITCH = spec(
    "-c --create -C --force-create --orphan --conflict",
    flags=(
        "--force --discard-changes --merge --detach --guess --track --no-track --quiet "
        "--ignore-other-worktrees"
    ),
    abbreviate=True,
)


def switch(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _SWITCH)
    if parsed.has("-f", "--force", "--discard-changes"):
        says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif parsed.has("-C", "--force-create"):
        says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif parsed.wild:
        call.unknown("git switch", "its options cannot be told", code="dynamic-target")
    else:
        says(call, Effect.LOCAL, "changes the branch, keeping edits")


_RESTORE = spec(
    "-s --source --conflict --pathspec-from-file",
    flags="--staged --worktree --patch --ours --theirs --merge --quiet --progress --overlay --no-overlay "
    "--ignore-unmerged --recurse-submodules",
    abbreviate=True,
)


def restore(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _RESTORE)
    if parsed.has("-S", "--staged") and not parsed.has("-W", "--worktree"):
        says(call, Effect.LOCAL, "takes files out of the index")
    else:
        _overwrite_paths(call, parsed.words or ["."])


_RESET = spec(
    "--pathspec-from-file",
    flags="--soft --mixed --hard --merge --keep --quiet --patch --intent-to-add --no-refresh --refresh "
    "--recurse-submodules",
    abbreviate=True,
)


def reset(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _RESET)
    if parsed.has("--hard", "--merge"):
        says(call, Effect.DESTRUCTIVE, "throws away edits and commits", code="discards-edits")
    elif parsed.wild:
        call.unknown("git reset", "its options cannot be told", code="dynamic-target")
    else:
        says(call, Effect.LOCAL, "moves the branch or the index, keeping files")


_CLEAN = spec("-e --exclude", flags="--force --dry-run --interactive --quiet", abbreviate=True)


def clean(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _CLEAN)
    if parsed.has("-n", "--dry-run"):
        says(call, Effect.READ, "only lists what it would delete")
    elif parsed.words:
        call.deletes(parsed.words)
    else:
        says(call, Effect.DESTRUCTIVE, "deletes untracked files", code="deletes-files")


def remove(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec(
            "--pathspec-from-file",
            flags="--cached --force --dry-run --ignore-unmatch --quiet --sparse",
            abbreviate=True,
        ),
    )
    if parsed.has("-n", "--dry-run"):
        says(call, Effect.READ, "only lists what it would delete")
    elif parsed.has("--cached") or not parsed.has("-f", "--force"):
        says(call, Effect.LOCAL, "removes files that have no uncommitted edits")
    else:
        call.deletes(parsed.words or ["."])


def move(call: Call, rest: list[str]) -> None:
    """Without `-f` an existing target is left alone."""
    parsed = parse(rest, spec(flags="--force --dry-run --verbose --sparse", abbreviate=True))
    if parsed.has("-n", "--dry-run"):
        says(call, Effect.READ, "tries only")
        return
    says(call, Effect.LOCAL, "renames files in the index and the tree")
    if not parsed.has("-f", "--force") or not parsed.words:
        return
    *sources, target = parsed.words
    into = call.context.files.kind(call.state.resolve(target)) is Kind.FOLDER
    for path in [f"{target}/{one.rstrip('/').rpartition('/')[2]}" for one in sources] if into else [target]:
        call.overwrites(path)
