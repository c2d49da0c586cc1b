"""Commands with a second verb: stash, worktree, submodule, bisect."""

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.git.answer import read_only, says
from shim.options import parse, spec
from shim.paths import temporary
from shim.text import HOLE


def stash(call: Call, rest: list[str]) -> None:
    word = rest[0] if rest and not rest[0].startswith("-") else "push"
    if HOLE in word:
        call.unknown("git stash", "which command runs cannot be told", code="dynamic-command")
    elif word in ("drop", "clear"):
        says(call, Effect.DESTRUCTIVE, "deletes stashed edits", code="discards-edits")
    elif word in ("list", "show"):
        read_only(call, rest)
    else:
        says(call, Effect.LOCAL, "puts edits aside or takes them back")


def worktree(call: Call, rest: list[str]) -> None:
    word, parsed = (rest or [""])[0], parse(rest[1:], spec("-b -B --reason --expire"))
    forced = parsed.has("-f", "--force", "-ff")
    if word == "list":
        says(call, Effect.READ, "lists worktrees")
    elif (
        word == "remove"
        and forced
        and not all(temporary(one, call.state, call.context) for one in parsed.words)
    ):
        says(call, Effect.DESTRUCTIVE, "removes a worktree with its edits", code="discards-edits")
    elif word == "add" and parsed.has("-B"):
        says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif word in ("add", "remove", "prune", "move", "lock", "unlock", "repair"):
        says(call, Effect.LOCAL, "changes the list of worktrees")
    else:
        call.unknown("git worktree", "which command runs cannot be told", code="dynamic-command")


def submodule(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, spec("-b --branch --name --reference --depth -j --jobs", stop=True))
    word, inner = (parsed.words or ["status"])[0], parsed.words[1:]
    if word == "foreach":
        command = [one for one in inner if one not in ("--recursive", "--quiet", "-q")]
        says(call, Effect.LOCAL, "runs a command in each submodule")
        call.shell(" ".join(command), positional=None) if len(command) == 1 else call.runs(command)
    elif word in ("status", "summary"):
        says(call, Effect.READ, "lists submodules")
    elif word in ("update", "deinit") and any(one in ("-f", "--force") for one in inner):
        says(call, Effect.DESTRUCTIVE, "throws away edits in submodules", code="discards-edits")
    elif word in ("update", "deinit", "add", "init", "sync", "absorbgitdirs", "set-branch", "set-url"):
        says(call, Effect.LOCAL, "changes submodules")
    else:
        call.unknown("git submodule", "which command runs cannot be told", code="dynamic-command")


def bisect(call: Call, rest: list[str]) -> None:
    word = (rest or [""])[0]
    if word == "run":
        call.runs(rest[1:])
    effect = Effect.READ if word in ("log", "view", "visualize", "terms", "") else Effect.LOCAL
    says(call, effect, "searches the history by checking commits out")


def for_each_repository(call: Call, rest: list[str]) -> None:
    """`git for-each-repo --config=KEY COMMAND…` runs git in each repository that a setting lists."""
    words = parse(rest, spec("--config", stop=True)).words
    if words:
        call.runs(["git", *words])
    else:
        says(call, Effect.READ, "names no command")
