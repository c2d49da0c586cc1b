"""Where the results of a session lie, also once its folder has been tidied away, and how taking them went."""

import shlex
from pathlib import Path

import msgspec

from sandbox.workspace.applying import Applied
from sandbox.workspace.git import GitError, attempt
from sekisho.core.display import one_line

MOST = 20  # files that are named


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The session `id`, whose refs are in the repository `project`."""

    id: str
    project: Path

    @property
    def elsewhere(self) -> bool:
        """Whether one stands outside of that repository."""
        return not Path.cwd().resolve().is_relative_to(self.project.resolve())


def kept_here() -> tuple[str, ...]:
    """The sessions whose results are in the repository around the current folder, the newest first."""
    shape = ("--sort=-creatordate", "--format=%(refname)")
    spaces = ("refs/sekisho/*/tree", "refs/sekisho/*/HEAD")
    names = (ref.decode(errors="replace").split("/")[2] for ref in _refs(Path.cwd(), *shape, *spaces))
    return tuple(dict.fromkeys(names))


def _refs(repository: Path, *asked: str) -> list[bytes]:
    """Names that `git for-each-ref` lists; none where it cannot be asked."""
    try:
        return attempt(repository, "for-each-ref", *asked).stdout.splitlines()
    except (GitError, OSError):
        return []


def tidied(text: str) -> Results | None:
    """The results of a session that is on record no more, by its id or an unambiguous part of it."""
    found = [name for name in kept_here() if text and (name == text or text in name)]
    exact = [text] if text in found else found
    if len(exact) != 1:
        return None
    top = attempt(Path.cwd(), "rev-parse", "--show-toplevel").stdout.decode(errors="surrogateescape")
    return Results(id=exact[0], project=Path(top.removesuffix("\n") or Path.cwd()))


def beside(project: Path, session: str) -> list[str]:
    """What to tell of branches that a session made and that are no part of its final tree's history: `apply`
    takes that one alone."""
    space = f"refs/sekisho/{session}"
    shape = ("--format=%(refname)", f"--no-merged={space}/tree", f"{space}/heads/")
    found = [ref.decode("utf-8", "surrogateescape") for ref in _refs(project, *shape)]
    rows = [
        f"on branch {one_line(ref.removeprefix(f'{space}/heads/'))}, besides: "
        f"git merge {one_line(shlex.quote(ref), 500)}"
        for ref in found[:MOST]
    ]
    return [*rows, f"and {len(found) - MOST} more branches"] if len(found) > MOST else rows


def taken(results: Results, applied: Applied) -> list[str]:
    """What to tell about results that were taken, or were not."""
    project = one_line(str(results.project), 500)
    steps = [one_line(step, 2000) for step in applied.instructions]
    if results.elsewhere and steps:
        steps.insert(0, f"cd {one_line(shlex.quote(str(results.project)), 500)}")
    if applied.done:
        on = f" on {applied.branch}" if applied.branch else ""
        there = f" in {project}" if results.elsewhere else ""
        took = f"{results.id} is at {applied.commit[:12]}{on}{there}"
        return [took, *(f"  then: {step}" for step in steps), *beside(results.project, results.id)]
    lines = [f"{results.id} was not merged and nothing was changed: {one_line(applied.why)}"]
    lines += [f"  {one_line(path.decode(errors='replace'))}" for path in applied.conflicts[:MOST]]
    lines += [f"  and {len(applied.conflicts) - MOST} more"] if len(applied.conflicts) > MOST else []
    return [*lines, "to go on:", *(f"  {step}" for step in steps)]
