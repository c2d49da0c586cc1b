"""Commands that bring commits in or out. Options are those of git 2.39's manual pages."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.git.answer import read_only, says
from shim.options import parse, spec
from shim.text import HOLE

_PUSH = spec(
    "-o --push-option --repo --receive-pack --exec",
    optional="--force-with-lease --recurse-submodules --signed",
    flags=(
        "--all --branches --prune --mirror --dry-run --no-dry-run --porcelain --delete --tags "
        "--follow-tags --atomic --force --force-if-includes --set-upstream --thin --quiet --verbose "
        "--progress --no-verify --verify"
    ),
    abbreviate=True,
)


def push(call: Call, rest: list[str]) -> None:
    """Every push is external; a dry run is not one, unless a later option takes that back."""
    parsed = parse(rest, _PUSH)
    dry = [name for name, _ in parsed.options if name in ("-n", "--dry-run", "--no-dry-run")]
    words = parsed.words
    target = " ".join(re.sub(r"//[^/@]*@", "//", word) for word in words) or "the configured remote"
    if dry and dry[-1] != "--no-dry-run":
        says(call, Effect.READ, "a dry run pushes nothing", target)
        return
    force = parsed.has("-f", "--force", "--mirror", "--force-with-lease", "--force-if-includes")
    force = force or any(word.startswith("+") for word in words[1:])
    delete = parsed.has("-d", "--delete", "--prune", "--mirror") or any(
        word.startswith(":") for word in words[1:]
    )
    call.does(
        Effect.EXTERNAL,
        target,
        "pushes to a remote repository"
        + (", with force" if force else "")
        + (", deleting refs" if delete else ""),
        code="git-push",
        verb="git.push",
        remote=words[0] if words else "",
        refspecs=words[1:],
        force=force,
        delete=delete,
        options=sorted({name for name, _ in parsed.options}),
        folder=call.state.cwd,
        as_configured=not parsed.wild and _as_configured(call),
    )


def _as_configured(call: Call) -> bool:
    """Whether the repository's and the person's settings alone decide: none was made before, none comes with
    the call, and git looks for them where it always does."""
    variables = (*call.state.variables, *call.context.environment)
    moved = call.variable("HOME") != call.context.home or "XDG_CONFIG_HOME" in variables
    made = call.state.config or any(name.startswith("GIT_") for name in variables)
    return not (moved or made) and list(call.written[1:]) == list(call.plain[1:])


_FETCH = spec(
    "--upload-pack --depth --deepen --shallow-since --shallow-exclude -j --jobs -o --server-option "
    "--refmap --filter --negotiation-tip --recurse-submodules-default"
)


def fetch(call: Call, rest: list[str]) -> None:
    """Fetching changes only what mirrors the remote, unless a refspec names a branch of one's own."""
    parsed = parse(rest, _FETCH)
    own = [word for word in parsed.words[1:] if ":" in word and not word.endswith(":")]
    own = [word for word in own if not re.search(r":refs/(remotes|pull|tags)/", word)]
    forced = parsed.has("-f", "--force") or any(word.startswith("+") for word in own)
    if parsed.has("--dry-run"):
        says(call, Effect.READ, "tries only")
    elif own and (forced or parsed.has("-u", "--update-head-ok")):
        says(call, Effect.DESTRUCTIVE, "moves a branch, dropping its commits")
    elif own:
        says(call, Effect.LOCAL, "moves a branch forward")
    else:
        says(call, Effect.READ, "gets commits from the remote")


def clone(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec(
            "-b --branch -o --origin -u --upload-pack --reference --depth -c --config -j --jobs "
            "--template --separate-git-dir --filter --bundle-uri --reference-if-able "
            "--shallow-since --shallow-exclude --server-option"
        ),
    )
    for setting in parsed.all("-c", "--config"):
        key, _, value = setting.partition("=")
        if key.lower() in ("core.sshcommand", "core.fsmonitor", "core.hookspath", "core.gitproxy"):
            call.shell(value, name=key)
    says(call, Effect.LOCAL, "copies a repository here")


def remote(call: Call, rest: list[str]) -> None:
    word = next((one for one in rest if not one.startswith("-")), "")
    if word in ("", "show", "get-url", "update"):
        says(call, Effect.READ, "lists remotes or gets commits")
    elif word in ("add", "rename", "remove", "rm", "set-url", "set-head", "set-branches", "prune"):
        says(call, Effect.LOCAL, "changes the list of remotes")
    else:
        call.unknown("git remote", "which command runs cannot be told", code="dynamic-command")


def archive(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec("-o --output --format --prefix --remote --exec --add-file", flags="--list", abbreviate=True),
    )
    says(call, Effect.READ, "packs a tree")
    for path in parsed.all("-o", "--output"):
        call.writes(path)


def format_patch(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec("-o --output-directory -v --reroll-count --to --cc --subject-prefix --suffix", optional="-n"),
    )
    stdout = parsed.has("--stdout")
    says(
        call, Effect.READ if stdout else Effect.LOCAL, "writes patches" + (" to its output" if stdout else "")
    )
    read_only(call, rest)


def bundle(call: Call, rest: list[str]) -> None:
    words = parse(rest, spec("--version")).words
    if words[:1] == ["create"]:
        call.writes((words[1:] or [HOLE])[0])
    else:
        reads = words[:1] in (["verify"], ["list-heads"])
        says(call, Effect.READ if reads else Effect.LOCAL, "reads a bundle")


def credential(call: Call, rest: list[str]) -> None:
    effect = Effect.UNKNOWN if rest[:1] == ["fill"] else Effect.LOCAL
    says(call, effect, "handles stored passwords", code="reads-credentials")
