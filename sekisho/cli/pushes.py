"""What a described `git push` would meet on the wire: the repository is looked at, nothing is asked of the
remote."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from netpolicy.explain import observe_row
from netpolicy.git.describing import row, with_force
from netpolicy.git.pktline import PktError
from netpolicy.world import World
from sandbox.workspace.git import GitError, attempt
from sekisho.core.action import Action, Effect
from sekisho.core.remotes import remote_keys
from shim.handlers.git.pushed import Repository, Untold, pushed

NOT_ASKED = "the remote was not asked: without force git sends only what is new or a fast-forward"
CONTENT = "what its commits bring was not looked at: a secret, or files you had not committed, still hold it"
SAME_LINE = "another part of the same line may change what it sends"


class Push(msgspec.Struct, frozen=True, kw_only=True):
    """`actions` are the push as a command and as a request, both with its refs; the stricter counts.
    `remotes` are the keys of the repository's remotes, `assumed` is told where the push would go through."""

    actions: tuple[Action, ...]
    remotes: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def is_push(action: Action) -> bool:
    """Whether an act is a `git push` that sends something."""
    return action.verb == "git.push" and action.effect is Effect.EXTERNAL and "refspecs" in action.detail


def looked_up(action: Action, others: Sequence[Action], world: World | None) -> Push:
    """A push with its refs and its remote, where the repository and its words tell them.

    `others` are the other parts of the same line.
    """
    try:
        if any(other.effect is not Effect.READ for other in others):
            raise Untold(SAME_LINE)
        return _told(action, repository_of(Path(action.detail["folder"])), world)
    except (Untold, PktError) as error:
        note = f"which refs it changes cannot be told ({error}); each is judged when it is sent"
        return Push(actions=(action,), notes=(note,))


def _told(action: Action, repository: Repository, world: World | None) -> Push:
    found = pushed(action.detail, repository)
    deleted = {change.ref: change.delete for change in found.changes}
    forced = {change.ref: change.force for change in found.changes}
    request = with_force(observe_row(row(found.url, deleted), world), forced)
    detail = {**action.detail, "remote": found.url, "refs": request.detail.get("refs", ())}
    absent = tuple(f"there is no {name} here yet; judged as a new branch" for name in found.absent)
    return Push(
        actions=(msgspec.structs.replace(action, detail=detail), request),
        remotes=_remotes(repository),
        notes=absent,
        assumed=(NOT_ASKED, CONTENT),
    )


def repository_of(folder: Path) -> Repository:
    """Settings, branch and refs of a repository of the person's. Raises Untold."""
    try:
        listed = attempt(folder, "config", "-z", "--list")
        head = attempt(folder, "symbolic-ref", "-q", "HEAD")
        refs = attempt(folder, "for-each-ref", "--format=%(refname) %(symref)")
    except (GitError, OSError) as error:
        raise Untold("git could not be asked") from error
    if listed.returncode or refs.returncode:
        raise Untold("git knows no repository there")
    pairs = (entry.partition("\n") for entry in _text(listed.stdout).split("\0") if entry)
    known = (line.partition(" ") for line in _text(refs.stdout).splitlines())
    return Repository(
        # A key without a value is true.
        config=tuple((key, value if equals else "true") for key, equals, value in pairs),
        head=_text(head.stdout).strip() or None,
        refs={name: leads_to or name for name, _, leads_to in known},
    )


def _remotes(repository: Repository) -> frozenset[str]:
    return remote_keys(
        url
        for key, url in repository.config
        if key.startswith("remote.") and key.endswith((".url", ".pushurl"))
    )


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")
