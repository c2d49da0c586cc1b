"""Commands on refs, settings and objects. Options are those of git 2.39's manual pages."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.git.answer import says
from shim.options import Parsed, parse, spec

_BRANCH = spec(
    "-u --set-upstream-to --sort --format --points-at --track-from",
    optional="--contains --no-contains --merged --no-merged --abbrev --column --color",
    flags=(
        "--delete --force --move --copy --list --all --remotes --verbose --show-current "
        "--edit-description --unset-upstream --track --no-track --create-reflog --quiet "
        "--ignore-case"
    ),
    abbreviate=True,
)


def branch(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _BRANCH)
    forced = parsed.has("-f", "--force")
    deleting, moving = parsed.has("-d", "--delete"), parsed.has("-m", "--move", "-c", "--copy")
    if parsed.has("-D") or (deleting and forced):
        says(call, Effect.DESTRUCTIVE, "deletes a branch, merged or not", code="deletes-branch")
    elif parsed.has("-M", "-C") or (moving and forced):
        twice = len(parsed.words) > 1
        says(call, Effect.DESTRUCTIVE if twice else Effect.LOCAL, "renames a branch, over another if need be")
    elif (
        deleting or moving or parsed.has("-u", "--set-upstream-to", "--unset-upstream", "--edit-description")
    ):
        says(call, Effect.LOCAL, "renames or removes a merged branch")
    elif forced:
        says(call, Effect.DESTRUCTIVE, "moves a branch, dropping its commits")
    elif parsed.words and not _listing(parsed):
        says(call, Effect.LOCAL, "makes a branch")
    else:
        says(call, Effect.READ, "lists branches")


def _listing(parsed: Parsed) -> bool:
    return parsed.has(
        "-l",
        "--list",
        "-a",
        "--all",
        "-r",
        "--remotes",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--show-current",
        "-v",
        "-vv",
        "--format",
        "--sort",
    )


def tag(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec(
            "-m --message -F --file -u --local-user --sort --format --cleanup --trailer",
            optional="-n --contains --no-contains --merged --no-merged --points-at",
            flags="--delete --force --list --annotate --sign --verify --create-reflog",
            abbreviate=True,
        ),
    )
    if parsed.has("-d", "--delete"):
        says(call, Effect.DESTRUCTIVE, "deletes a tag")
    elif parsed.has("-f", "--force"):
        says(call, Effect.DESTRUCTIVE, "moves a tag")
    elif not parsed.words or parsed.has(
        "-l",
        "--list",
        "-n",
        "-v",
        "--verify",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
    ):
        says(call, Effect.READ, "lists tags")
    else:
        says(call, Effect.LOCAL, "makes a tag")


_READING = (
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color",
    "--get-colorbool",
)  # fmt: skip
_WRITING = (
    "--unset", "--unset-all", "--remove-section", "--rename-section", "-e", "--edit", "--add",
    "--replace-all",
)  # fmt: skip


def config(call: Call, rest: list[str]) -> None:
    """One word reads, two write; settings of this session count for what follows in it."""
    parsed = parse(rest, spec("-f --file --blob --type --default --comment --value --url"))
    words = parsed.words
    if words[:1] in (["get"], ["list"]) or parsed.has(*_READING):
        says(call, Effect.READ, "reads settings")
        return
    if words[:1] in (["set"], ["unset"], ["edit"], ["rename-section"], ["remove-section"]):
        words = words[1:]
    elif len(words) < 2 and not parsed.has(*_WRITING):
        says(call, Effect.READ, "reads settings")
        return
    says(call, Effect.LOCAL, "changes settings")
    if len(words) >= 2 and not parsed.has("--unset", "--unset-all", "--remove-section"):
        call.state.config += ((words[0], words[1]),)


def plumbing(call: Call, rest: list[str]) -> None:
    """read-tree, checkout-index, update-ref, symbolic-ref, update-index."""
    parsed = parse(
        rest,
        spec(
            "-m --prefix --index-output --stage --temp --cacheinfo --chmod"
            if call.name != "read-tree"
            else "--prefix --index-output --exclude-per-directory"
        ),
    )
    reading = call.name == "symbolic-ref" and len(parsed.words) < 2 and not parsed.has("-d", "--delete")
    lossy = {
        "read-tree": parsed.has("--reset"),
        "checkout-index": parsed.has("-f", "--force"),
        "update-ref": True,
        "symbolic-ref": parsed.has("-d", "--delete"),
        "update-index": False,
    }[call.name]
    effect = Effect.READ if reading else (Effect.DESTRUCTIVE if lossy else Effect.LOCAL)
    says(call, effect, "changes refs, the index or files by plumbing")


def collect(call: Call, rest: list[str]) -> None:
    """gc: what is unreachable is kept for two weeks, unless that is cut short."""
    now = any(re.fullmatch(r"--prune=(now|all|0.*|\d+\.(second|minute|hour)s?.*)", word) for word in rest)
    says(
        call,
        Effect.DESTRUCTIVE if now else Effect.LOCAL,
        "packs objects" + (" and drops lost commits" if now else ""),
    )


def reflog(call: Call, rest: list[str]) -> None:
    word = (rest or ["show"])[0]
    lossy = word in ("expire", "delete", "drop") and not any(one in ("-n", "--dry-run") for one in rest)
    says(call, Effect.DESTRUCTIVE if lossy else Effect.READ, "the recovery log")


def apply(call: Call, rest: list[str]) -> None:
    looks = (
        any(word in ("--check", "--stat", "--numstat", "--summary") for word in rest)
        and "--apply" not in rest
    )
    says(call, Effect.READ if looks else Effect.LOCAL, "applies a patch")


def hash_object(call: Call, rest: list[str]) -> None:
    says(call, Effect.LOCAL if "-w" in rest else Effect.READ, "computes an object's name")
