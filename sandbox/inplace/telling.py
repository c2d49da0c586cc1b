"""What the person is told of a take-over: where their checkout stands, what came over, what stays and why.
Pure."""

from collections.abc import Mapping

import msgspec

from sandbox.inplace.plan import Now
from sandbox.workspace.model import Workspace
from sandbox.workspace.source import Source


class TakenOver(msgspec.Struct):
    """What came over and what stays, in sentences for the person."""

    told: list[str]
    left: list[tuple[str, str]]


def standing(before: Now, after: Source) -> str:
    """On which branch and commit the checkout is now."""
    at = f" at {after.head[:12]}" if after.head else ""
    here = f"your checkout is {_on(after.branch)}{at}"
    if before.branch != after.branch:
        return f"{here} now; it was {_on(before.branch)}"
    if before.head != after.head:
        return f"{here} now; `git reflog` has what it was before"
    return f"{here}, as before"


def _on(branch: str | None) -> str:
    return f"on {_short(branch)}" if branch else "on no branch"


def stays(workspace: Workspace, left: list[tuple[str, str]], refs: Mapping[str, str]) -> list[str]:
    """Each ref that does not follow, with its reason and where the session's lies."""
    rows = []
    for name, why in left:
        below = name.removeprefix("refs/")
        theirs = f"; the session's is {workspace.namespace}/{below}" if below in refs else ""
        rows.append(f"{_short(name)} stays as it is here: {why}{theirs}")
    how = f"`sekisho sessions apply {workspace.session} --branch NAME` makes a branch of the work"
    return [*rows, how] if rows else []


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def moved(name: str, new: str, old: str) -> str:
    """A ref that came over."""
    return f"{_short(name)} is at {new[:12]} now; it was at {old[:12]}" if old else f"{_short(name)} is new"
