"""The evidence of a held push, read from its own repository in a throwaway sandbox."""

from collections.abc import Sequence

from sandbox.workspace.boxed import Box
from sandbox.workspace.evidence import MOST_COMMITS, diffstat
from sandbox.workspace.git import EMPTY_TREE, lines, text
from sandbox.workspace.held import Command, HeldRef, SentCommit
from sandbox.workspace.model import Workspace
from sandbox.workspace.sentlog import count, sent_commits, tags

_MOST_BASES = 2000  # ids given to one merge-base, as arguments


def exists(oid: str) -> bool:
    """Whether an id of a push names an object: zeros mean that there is none."""
    return oid.strip("0") != ""


def present(box: Box, oids: Sequence[str]) -> set[str]:
    """Those of the ids that `box` has."""
    asked = "".join(f"{oid}\n" for oid in dict.fromkeys(oids)).encode()
    rows = lines(box.git("cat-file", "--batch-check", stdin=asked), b"\n")
    return {row.split(b" ")[0].decode() for row in rows if not row.endswith(b" missing")}


def describe(box: Box, command: Command, here: set[str], workspace: Workspace) -> HeldRef:
    """The evidence of one ref. `here` are the ids of the remote that `box` has."""
    notes: list[str] = []
    log: list[SentCommit] = []
    stat, more = "", 0
    if exists(command.old) and command.old not in here:
        notes.append("what the remote has there now is not known here")
    bounds = span(box, command, here, workspace)
    found, target = tags(box, command.new) if exists(command.new) else ((), "")
    if bounds is not None:
        behind = [command.old] if exists(command.old) and command.old in here else sorted(here)
        log = sent_commits(box, [command.new], behind, MOST_COMMITS)
        if len(log) == MOST_COMMITS:
            more = count(box, [command.new], behind) - len(log)
        stat = diffstat(box, *bounds)
    elif exists(command.new):
        kind, size = (text(box.git("cat-file", asked, target)) for asked in ("-t", "-s"))
        notes.append(f"it points at a {kind} of {size} bytes, no commit")
    return HeldRef(
        old=command.old,
        new=command.new,
        ref=command.ref,
        is_ancestor=_is_ancestor(box, command, here),
        log=tuple(log),
        more=more,
        tags=found,
        diffstat=stat,
        notes=tuple(notes),
    )


def _is_ancestor(box: Box, command: Command, here: set[str]) -> bool | None:
    if not (exists(command.old) and exists(command.new) and command.old in here):
        return None
    done = box.run(["git", "merge-base", "--is-ancestor", command.old, command.new])
    return {0: True, 1: False}.get(done.returncode)


def span(box: Box, command: Command, here: set[str], workspace: Workspace) -> tuple[str, str] | None:
    """The two commits whose difference the push makes on its ref; None where there is no commit."""
    if not exists(command.new) or _commit(box, command.new) is None:
        return None
    if exists(command.old) and command.old in here and _commit(box, command.old):
        return command.old, command.new
    # What the remote has, and nothing else: left out of the diff is what it need not be sent.
    candidates = sorted(here)[:_MOST_BASES]
    base = box.asks("merge-base", command.new, *candidates) if candidates else None
    if base:
        return text(base).split("\n")[0], command.new
    return EMPTY_TREE[workspace.object_format], command.new


def _commit(box: Box, oid: str) -> str | None:
    found = box.asks("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}")
    return text(found) if found else None
