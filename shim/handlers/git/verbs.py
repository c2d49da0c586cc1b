"""Which function judges which git command."""

from shim.grammar import table
from shim.handlers.git.answer import Verb, by_subcommand, changes, loses, outside, read_only
from shim.handlers.git.refs import apply, branch, collect, config, hash_object, plumbing, reflog, tag
from shim.handlers.git.setaside import bisect, for_each_repository, stash, submodule, worktree
from shim.handlers.git.transfer import archive, bundle, clone, credential, fetch, format_patch, push, remote
from shim.handlers.git.trees import checkout, clean, move, remove, reset, restore, switch

_READ = table("git")["read"]


_LOCAL = table("git")["local"]


VERBS: dict[str, Verb] = {
    **dict.fromkeys(_READ, read_only),
    **dict.fromkeys(_LOCAL, changes("changes something in the repository")),
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
    "mv": move,
    "for-each-repo": for_each_repository,
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
