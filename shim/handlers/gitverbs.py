"""What each git command does. Option names and meanings are those of git 2.39's manual pages."""

import re
from collections.abc import Callable

from sekisho.core.action import Effect
from shim.call import Call
from shim.context import Kind
from shim.options import Parsed, parse, spec
from shim.paths import temporary
from shim.text import HOLE, known

Verb = Callable[[Call, list[str]], None]


def _says(call: Call, effect: Effect, reason: str, target: str = "", code: str = "") -> None:
    call.does(effect, target or " ".join(["git", *call.argv[:3]]), reason, code=code, verb=f"git.{call.name}")


def read_only(call: Call, rest: list[str]) -> None:
    """Commands that only read; those that show differences can write them to a file."""
    _says(call, Effect.READ, "only reads the repository")
    for position, word in enumerate(rest):
        if word == "--":
            break
        if word.startswith("--outp") and "output-indicator" not in word:
            name, equals, value = word.partition("=")
            call.writes(value if equals else (rest[position + 1 : position + 2] or [HOLE])[0])


def changes(reason: str) -> Verb:
    """A command that changes something local that can be taken back."""

    def verb(call: Call, rest: list[str]) -> None:
        parsed = parse(rest, _COMMIT if call.name == "commit" else spec())
        if parsed.has("--dry-run") or (call.name in ("add", "mv", "gc") and parsed.has("-n")):
            _says(call, Effect.READ, "tries only")
        else:
            _says(call, Effect.LOCAL, reason)

    return verb


def outside(reason: str) -> Verb:
    def verb(call: Call, rest: list[str]) -> None:
        dry = [word for word in rest if word in ("--dry-run", "--no-dry-run")]
        if dry[-1:] == ["--dry-run"] and call.name in ("send-email",):
            _says(call, Effect.READ, "tries only")
        else:
            _says(call, Effect.EXTERNAL, reason)

    return verb


def loses(reason: str) -> Verb:
    def verb(call: Call, rest: list[str]) -> None:
        dry = any(word in ("-n", "--dry-run") for word in rest) and call.name == "prune"
        _says(call, Effect.READ if dry else Effect.DESTRUCTIVE, reason)

    return verb


_COMMIT = spec(
    "-m --message -F --file -C --reuse-message -c --reedit-message -t --template --author --date "
    "--cleanup --fixup --squash --trailer --pathspec-from-file"
)
_PUSH = spec(
    "-o --push-option --repo --receive-pack --exec",
    optional="--force-with-lease --recurse-submodules --signed",
    flags="--all --branches --prune --mirror --dry-run --no-dry-run --porcelain --delete --tags --follow-tags "
    "--atomic --force --force-if-includes --set-upstream --thin --quiet --verbose --progress --no-verify --verify",
    abbreviate=True,
)


def push(call: Call, rest: list[str]) -> None:
    """Every push is external; a dry run is not one, unless a later option takes that back."""
    parsed = parse(rest, _PUSH)
    dry = [name for name, _ in parsed.options if name in ("-n", "--dry-run", "--no-dry-run")]
    words = parsed.words
    target = " ".join(re.sub(r"//[^/@]*@", "//", word) for word in words) or "the configured remote"
    if dry and dry[-1] != "--no-dry-run":
        _says(call, Effect.READ, "a dry run pushes nothing", target)
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
    )


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
        _says(call, Effect.READ, "tries only")
    elif own and (forced or parsed.has("-u", "--update-head-ok")):
        _says(call, Effect.DESTRUCTIVE, "moves a branch, dropping its commits")
    elif own:
        _says(call, Effect.LOCAL, "moves a branch forward")
    else:
        _says(call, Effect.READ, "gets commits from the remote")


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
    _says(call, Effect.LOCAL, "copies a repository here")


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
        _says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif parsed.has("-B"):
        _says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif parsed.has("-p", "--patch", "--pathspec-from-file", "--ours", "--theirs"):
        _says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif paths:
        _overwrite_paths(call, paths)
    elif (
        parsed.words
        and HOLE in parsed.words[0]
        and not parsed.has("-b", "--orphan", "--detach", "-t", "--track")
    ):
        call.unknown(parsed.words[0], "it may name a branch or a file", code="dynamic-target")
    else:
        _says(call, Effect.LOCAL, "changes the branch, keeping edits")


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
        if HOLE in absolute:
            call.unknown(path, "which files are overwritten cannot be told", code="dynamic-target")
        elif call.context.files.kind(absolute) is Kind.FILE and call.context.files.committed(absolute):
            _says(call, Effect.LOCAL, "the file has no uncommitted edits", path)
        else:
            _says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", path, code="discards-edits")


_SWITCH = spec(
    "-c --create -C --force-create --orphan --conflict",
    flags="--force --discard-changes --merge --detach --guess --track --no-track --quiet --ignore-other-worktrees",
    abbreviate=True,
)


def switch(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _SWITCH)
    if parsed.has("-f", "--force", "--discard-changes"):
        _says(call, Effect.DESTRUCTIVE, "throws away uncommitted edits", code="discards-edits")
    elif parsed.has("-C", "--force-create"):
        _says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif parsed.wild:
        call.unknown("git switch", "its options cannot be told", code="dynamic-target")
    else:
        _says(call, Effect.LOCAL, "changes the branch, keeping edits")


_RESTORE = spec(
    "-s --source --conflict --pathspec-from-file",
    flags="--staged --worktree --patch --ours --theirs --merge --quiet --progress --overlay --no-overlay "
    "--ignore-unmerged --recurse-submodules",
    abbreviate=True,
)


def restore(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _RESTORE)
    if parsed.has("-S", "--staged") and not parsed.has("-W", "--worktree"):
        _says(call, Effect.LOCAL, "takes files out of the index")
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
        _says(call, Effect.DESTRUCTIVE, "throws away edits and commits", code="discards-edits")
    elif parsed.wild:
        call.unknown("git reset", "its options cannot be told", code="dynamic-target")
    else:
        _says(call, Effect.LOCAL, "moves the branch or the index, keeping files")


_CLEAN = spec("-e --exclude", flags="--force --dry-run --interactive --quiet", abbreviate=True)


def clean(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, _CLEAN)
    if parsed.has("-n", "--dry-run"):
        _says(call, Effect.READ, "only lists what it would delete")
    elif parsed.words:
        call.deletes(parsed.words)
    else:
        _says(call, Effect.DESTRUCTIVE, "deletes untracked files", code="deletes-files")


def branch(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec(
            "-u --set-upstream-to --sort --format --points-at --track-from",
            optional="--contains --no-contains --merged --no-merged --abbrev --column --color",
            flags="--delete --force --move --copy --list --all --remotes --verbose --show-current --edit-description "
            "--unset-upstream --track --no-track --create-reflog --quiet --ignore-case",
            abbreviate=True,
        ),
    )
    forced = parsed.has("-f", "--force")
    deleting, moving = parsed.has("-d", "--delete"), parsed.has("-m", "--move", "-c", "--copy")
    if parsed.has("-D") or (deleting and forced):
        _says(call, Effect.DESTRUCTIVE, "deletes a branch, merged or not", code="deletes-branch")
    elif (
        deleting or moving or parsed.has("-u", "--set-upstream-to", "--unset-upstream", "--edit-description")
    ):
        _says(call, Effect.LOCAL, "renames or removes a merged branch")
    elif parsed.has("-M", "-C"):
        twice = len(parsed.words) > 1
        _says(
            call, Effect.DESTRUCTIVE if twice else Effect.LOCAL, "renames a branch, over another if need be"
        )
    elif forced:
        _says(call, Effect.DESTRUCTIVE, "moves a branch, dropping its commits")
    elif parsed.words and not _listing(parsed):
        _says(call, Effect.LOCAL, "makes a branch")
    else:
        _says(call, Effect.READ, "lists branches")


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
        _says(call, Effect.DESTRUCTIVE, "deletes a tag")
    elif parsed.has("-f", "--force"):
        _says(call, Effect.DESTRUCTIVE, "moves a tag")
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
        _says(call, Effect.READ, "lists tags")
    else:
        _says(call, Effect.LOCAL, "makes a tag")


def by_subcommand(
    read: str, local: str, destructive: str = "", external: str = "", *, bare: Effect = Effect.READ
) -> Verb:
    """A command whose first word decides."""
    table = {
        **dict.fromkeys(read.split(), Effect.READ),
        **dict.fromkeys(local.split(), Effect.LOCAL),
        **dict.fromkeys(destructive.split(), Effect.DESTRUCTIVE),
        **dict.fromkeys(external.split(), Effect.EXTERNAL),
    }

    def verb(call: Call, rest: list[str]) -> None:
        word = next((one for one in rest if not one.startswith("-")), "")
        leading = not rest or not rest[0].startswith("-") or not word
        effect = table.get(word, Effect.UNKNOWN) if word else bare
        if not leading and word not in table:
            effect = bare
        if effect in (Effect.DESTRUCTIVE, Effect.EXTERNAL) and any(
            one in ("--dry-run", "-n") for one in rest
        ):
            effect = Effect.READ
        _says(call, effect, f"{call.name} {word}".strip())

    return verb


def stash(call: Call, rest: list[str]) -> None:
    word = rest[0] if rest and not rest[0].startswith("-") else "push"
    if HOLE in word:
        call.unknown("git stash", "which command runs cannot be told", code="dynamic-command")
    elif word in ("drop", "clear"):
        _says(call, Effect.DESTRUCTIVE, "deletes stashed edits", code="discards-edits")
    elif word in ("list", "show"):
        read_only(call, rest)
    else:
        _says(call, Effect.LOCAL, "puts edits aside or takes them back")


def worktree(call: Call, rest: list[str]) -> None:
    word, parsed = (rest or [""])[0], parse(rest[1:], spec("-b -B --reason --expire"))
    forced = parsed.has("-f", "--force", "-ff")
    if word == "list":
        _says(call, Effect.READ, "lists worktrees")
    elif (
        word == "remove"
        and forced
        and not all(temporary(one, call.state, call.context) for one in parsed.words)
    ):
        _says(call, Effect.DESTRUCTIVE, "removes a worktree with its edits", code="discards-edits")
    elif word == "add" and parsed.has("-B"):
        _says(call, Effect.DESTRUCTIVE, "resets a branch")
    elif word in ("add", "remove", "prune", "move", "lock", "unlock", "repair"):
        _says(call, Effect.LOCAL, "changes the list of worktrees")
    else:
        call.unknown("git worktree", "which command runs cannot be told", code="dynamic-command")


def submodule(call: Call, rest: list[str]) -> None:
    parsed = parse(rest, spec("-b --branch --name --reference --depth -j --jobs", stop=True))
    word, inner = (parsed.words or ["status"])[0], parsed.words[1:]
    if word == "foreach":
        command = [one for one in inner if one not in ("--recursive", "--quiet", "-q")]
        _says(call, Effect.LOCAL, "runs a command in each submodule")
        call.shell(" ".join(command), positional=None) if len(command) == 1 else call.runs(command)
    elif word in ("status", "summary"):
        _says(call, Effect.READ, "lists submodules")
    elif word in ("update", "deinit") and any(one in ("-f", "--force") for one in inner):
        _says(call, Effect.DESTRUCTIVE, "throws away edits in submodules", code="discards-edits")
    elif word in ("update", "deinit", "add", "init", "sync", "absorbgitdirs", "set-branch", "set-url"):
        _says(call, Effect.LOCAL, "changes submodules")
    else:
        call.unknown("git submodule", "which command runs cannot be told", code="dynamic-command")


def bisect(call: Call, rest: list[str]) -> None:
    word = (rest or [""])[0]
    if word == "run":
        call.runs(rest[1:])
    effect = Effect.READ if word in ("log", "view", "visualize", "terms", "") else Effect.LOCAL
    _says(call, effect, "searches the history by checking commits out")


def config(call: Call, rest: list[str]) -> None:
    """One word reads, two write; settings of this session count for what follows in it."""
    parsed = parse(rest, spec("-f --file --blob --type --default --comment --value --url"))
    words = parsed.words
    modes = (
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "-l",
        "--list",
        "--get-color",
        "--get-colorbool",
    )
    if words[:1] in (["get"], ["list"]) or parsed.has(*modes):
        _says(call, Effect.READ, "reads settings")
        return
    removes = (
        "--unset",
        "--unset-all",
        "--remove-section",
        "--rename-section",
        "-e",
        "--edit",
        "--add",
        "--replace-all",
    )
    if words[:1] in (["set"], ["unset"], ["edit"], ["rename-section"], ["remove-section"]):
        words = words[1:]
    elif len(words) < 2 and not parsed.has(*removes):
        _says(call, Effect.READ, "reads settings")
        return
    _says(call, Effect.LOCAL, "changes settings")
    if len(words) >= 2 and not parsed.has("--unset", "--unset-all", "--remove-section"):
        call.state.config += ((words[0], words[1]),)


def remote(call: Call, rest: list[str]) -> None:
    word = next((one for one in rest if not one.startswith("-")), "")
    if word in ("", "show", "get-url", "update"):
        _says(call, Effect.READ, "lists remotes or gets commits")
    elif word in ("add", "rename", "remove", "rm", "set-url", "set-head", "set-branches", "prune"):
        _says(call, Effect.LOCAL, "changes the list of remotes")
    else:
        call.unknown("git remote", "which command runs cannot be told", code="dynamic-command")


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
        _says(call, Effect.READ, "only lists what it would delete")
    elif parsed.has("--cached") or not parsed.has("-f", "--force"):
        _says(call, Effect.LOCAL, "removes files that have no uncommitted edits")
    else:
        call.deletes(parsed.words or ["."])


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
    _says(call, effect, "changes refs, the index or files by plumbing")


def collect(call: Call, rest: list[str]) -> None:
    """gc: what is unreachable is kept for two weeks, unless that is cut short."""
    now = any(re.fullmatch(r"--prune=(now|all|0.*|\d+\.(second|minute|hour)s?.*)", word) for word in rest)
    _says(
        call,
        Effect.DESTRUCTIVE if now else Effect.LOCAL,
        "packs objects" + (" and drops lost commits" if now else ""),
    )


def reflog(call: Call, rest: list[str]) -> None:
    word = (rest or ["show"])[0]
    lossy = word in ("expire", "delete", "drop") and not any(one in ("-n", "--dry-run") for one in rest)
    _says(call, Effect.DESTRUCTIVE if lossy else Effect.READ, "the recovery log")


def archive(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec("-o --output --format --prefix --remote --exec --add-file", flags="--list", abbreviate=True),
    )
    _says(call, Effect.READ, "packs a tree")
    for path in parsed.all("-o", "--output"):
        call.writes(path)


def format_patch(call: Call, rest: list[str]) -> None:
    parsed = parse(
        rest,
        spec("-o --output-directory -v --reroll-count --to --cc --subject-prefix --suffix", optional="-n"),
    )
    stdout = parsed.has("--stdout")
    _says(
        call, Effect.READ if stdout else Effect.LOCAL, "writes patches" + (" to its output" if stdout else "")
    )
    read_only(call, rest)


def bundle(call: Call, rest: list[str]) -> None:
    words = parse(rest, spec("--version")).words
    if words[:1] == ["create"]:
        call.writes((words[1:] or [HOLE])[0])
    else:
        reads = words[:1] in (["verify"], ["list-heads"])
        _says(call, Effect.READ if reads else Effect.LOCAL, "reads a bundle")


def apply(call: Call, rest: list[str]) -> None:
    looks = (
        any(word in ("--check", "--stat", "--numstat", "--summary") for word in rest)
        and "--apply" not in rest
    )
    _says(call, Effect.READ if looks else Effect.LOCAL, "applies a patch")


def hash_object(call: Call, rest: list[str]) -> None:
    _says(call, Effect.LOCAL if "-w" in rest else Effect.READ, "computes an object's name")


def credential(call: Call, rest: list[str]) -> None:
    effect = Effect.UNKNOWN if rest[:1] == ["fill"] else Effect.LOCAL
    _says(call, effect, "handles stored passwords", code="reads-credentials")


_READ = """status log show diff shortlog blame annotate describe rev-parse rev-list name-rev ls-files ls-tree ls-remote
cat-file for-each-ref show-ref show-branch merge-base diff-tree diff-index diff-files count-objects fsck verify-commit
verify-tag verify-pack whatchanged range-diff cherry check-ignore check-attr check-mailmap check-ref-format var grep
get-tar-commit-id patch-id column stripspace request-pull merge-tree fmt-merge-msg fast-export difftool gitk
upload-archive unpack-file mailinfo show-index for-each-repo"""
_LOCAL = """add commit merge rebase cherry-pick revert am init mv pull mergetool rerere sparse-checkout maintenance repack
pack-refs pack-objects unpack-objects index-pack prune-packed multi-pack-index commit-graph write-tree commit-tree mktree
mktag fast-import update-server-info merge-file merge-index merge-one-file bugreport diagnose citool gui interpret-trailers
replace stage absorb mailsplit instaweb daemon branchless"""

VERBS: dict[str, Verb] = {
    **dict.fromkeys(_READ.split(), read_only),
    **dict.fromkeys(_LOCAL.split(), changes("changes something in the repository")),
    "push": push,
    "fetch": fetch,
    "clone": clone,
    "checkout": checkout,
    "switch": switch,
    "restore": restore,
    "reset": reset,
    "clean": clean,
    "branch": branch,
    "tag": tag,
    "stash": stash,
    "worktree": worktree,
    "submodule": submodule,
    "bisect": bisect,
    "config": config,
    "remote": remote,
    "rm": remove,
    **dict.fromkeys(("read-tree", "checkout-index", "update-ref", "symbolic-ref", "update-index"), plumbing),
    "gc": collect,
    "reflog": reflog,
    "archive": archive,
    "format-patch": format_patch,
    "bundle": bundle,
    "apply": apply,
    "hash-object": hash_object,
    "credential": credential,
    "notes": by_subcommand("list show get-ref", "add append edit copy merge", "remove prune"),
    "lfs": by_subcommand(
        "ls-files status env locks logs ext version fsck pointer",
        "pull fetch checkout track untrack install uninstall update prune clone smudge clean dedup",
        "migrate",
        "push lock unlock",
    ),
    "svn": by_subcommand(
        "log info find-rev show-ignore proplist propget blame",
        "clone init fetch rebase create-ignore mkdirs gc reset show-externals",
        "",
        "dcommit commit-diff branch tag set-tree propset",
    ),
    "subtree": by_subcommand("", "add merge pull split", "", "push"),
    "p4": by_subcommand("", "clone sync rebase branches", "", "submit unshelve"),
    "flow": by_subcommand(
        "version log", "init start track pull checkout rename", "", "publish finish delete"
    ),
    "town": by_subcommand(
        "status diff-parent branch", "hack append prepend switch", "", "sync ship propose repo undo"
    ),
    "annex": by_subcommand(
        "info list whereis status find", "add get init lock unlock", "drop", "sync copy move push"
    ),
    "prune": loses("deletes commits that nothing refers to"),
    "filter-branch": loses("rewrites the history"),
    "filter-repo": loses("rewrites the history"),
    "send-email": outside("sends mail"),
    "imap-send": outside("sends mail"),
    "send-pack": outside("pushes to a remote repository"),
    "http-push": outside("pushes to a remote repository"),
    "cvsexportcommit": outside("commits to a CVS server"),
    "cl": outside("uploads a change"),
    "review": outside("uploads a change"),
    "machete": by_subcommand("status show", "update reapply", "", "traverse push github"),
}
