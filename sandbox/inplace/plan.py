"""What of a session's refs may move the person's, and why not. Pure."""

from collections.abc import Mapping

import msgspec

_COMING = ("refs/heads/", "refs/tags/")
_DELETED = "it was deleted inside; deletions do not come over"


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """The person's repository at the end, as far as it matters.

    `branch` is the full ref of HEAD (None: detached), `head` its commit, `refs` branches and tags,
    `same_index` whether its entries are those of the start, `elsewhere` branches that other worktrees
    have checked out.
    """

    branch: str | None
    head: str | None
    refs: Mapping[str, str]
    same_index: bool
    elsewhere: frozenset[str] = frozenset()


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """What the session began with and ended with. `rewrites`: its HEAD does not descend from the commit
    its branch had at the start; `rewritten` are branches of which that is so. `repositories`: it adds
    submodules or nested repositories. `staged`: its index could be read."""

    start_branch: str | None
    start: str | None
    start_refs: Mapping[str, str]
    branch: str | None
    head: str | None
    refs: Mapping[str, str]
    rewrites: bool
    repositories: bool
    staged: bool
    rewritten: frozenset[str] = frozenset()
    deleted: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`create` are new refs, `update` branches beside HEAD as (ref, new, old); `move` is (ref or "HEAD" where
    detached, new, old); `switch` the ref that HEAD shall name ("" to leave it); `index`: the index follows.
    `why` says why HEAD stays behind, `left` which refs do, each with its reason."""

    create: tuple[tuple[str, str], ...] = ()
    update: tuple[tuple[str, str, str], ...] = ()
    move: tuple[str, str, str] | None = None
    switch: str = ""
    index: bool = False
    why: str = ""
    left: tuple[tuple[str, str], ...] = ()

    def leaves(self, branch: str) -> bool:
        """Whether HEAD goes from that branch to something else."""
        detaches = self.move is not None and self.move[0] == "HEAD"
        return detaches or self.switch not in ("", branch)


def plan(session: Session, now: Now) -> Plan:
    """What to take over. HEAD, its branch and the index go together or not at all; every other branch by
    itself, if it is where it was and goes forward; new ones always. What does not is named."""
    head = _head(session, now)
    taken = head.move[0] if head.move else ""
    create: list[tuple[str, str]] = []
    update: list[tuple[str, str, str]] = []
    left = [(name, _DELETED) for name in session.deleted if name in now.refs]
    for name, oid in sorted(session.refs.items()):
        if name == taken or now.refs.get(name) == oid:
            continue
        why = _reason(name, session, now, head)
        if why:
            left.append((name, why))
        elif name in session.start_refs:
            update.append((name, oid, session.start_refs[name]))
        elif name.startswith(_COMING):
            create.append((name, oid))
    return msgspec.structs.replace(head, create=tuple(create), update=tuple(update), left=tuple(left))


def _reason(name: str, session: Session, now: Now, head: Plan) -> str:
    """Why a ref beside HEAD stays behind, or ""."""
    if name == "refs/stash":
        return "your own stashes stay as they are"
    if name not in session.start_refs:
        return "you made one of that name meanwhile" if name in now.refs else ""
    if not name.startswith("refs/heads/"):
        return "a tag that was there does not move"
    if now.refs.get(name) != session.start_refs[name]:
        return "you moved or deleted it meanwhile"
    if name in session.rewritten:
        return "it rewrites commits that were there before"
    if name in now.elsewhere:
        return "another worktree has it checked out"
    if name == session.branch and head.why:
        return head.why
    if name == now.branch and not head.leaves(name):
        return head.why or "it is checked out here, and HEAD stays where it is"
    return ""


def _head(session: Session, now: Now) -> Plan:
    if (session.branch, session.head) == (session.start_branch, session.start) or session.head is None:
        return Plan()
    if (now.branch, now.head) == (session.branch, session.head):  # a take-over that was cut off
        return Plan(index=now.same_index and session.staged)
    why = _against(session, now)
    if why:
        return Plan(why=why)
    switch = session.branch or "" if session.branch != session.start_branch else ""
    if session.branch is None:
        return Plan(move=("HEAD", session.head, now.head or ""), index=True)
    old = now.refs.get(session.branch, "")
    move = (session.branch, session.head, old) if old != session.head else None
    return Plan(move=move, switch=switch, index=True)


def _against(session: Session, now: Now) -> str:
    """Why HEAD must stay where it is, or ""."""
    if (now.branch, now.head) != (session.start_branch, session.start):
        return "your HEAD moved during the session"
    if not now.same_index:
        return "you staged something during the session"
    if session.rewrites:
        return "it rewrites commits that were there before"
    if session.repositories:
        return "it adds a repository in the tree, which your git would look into"
    if not session.staged:
        return "it ended in the middle of a merge, or its index cannot be read"
    if session.branch and session.branch != session.start_branch:
        if session.branch in now.elsewhere:
            return "it switched to a branch that another worktree has checked out"
        if now.refs.get(session.branch) != session.start_refs.get(session.branch):
            return "it switched to a branch that moved meanwhile"
    return ""
