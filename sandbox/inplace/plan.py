"""What of a session's refs may move the person's, and why not. Pure."""

from collections.abc import Mapping

import msgspec


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
    its branch had at the start. `repositories`: it adds submodules or nested repositories. `staged`: its
    index could be read."""

    start_branch: str | None
    start: str | None
    start_refs: Mapping[str, str]
    branch: str | None
    head: str | None
    refs: Mapping[str, str]
    rewrites: bool
    repositories: bool
    staged: bool


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`create` are new refs; `move` is (ref or "HEAD" where detached, new, old); `switch` the ref that HEAD
    shall name ("" to leave it); `index`: the index follows. `why` says what stays behind."""

    create: tuple[tuple[str, str], ...] = ()
    move: tuple[str, str, str] | None = None
    switch: str = ""
    index: bool = False
    why: str = ""

    @property
    def empty(self) -> bool:
        return not (self.create or self.move or self.switch or self.index)


def plan(session: Session, now: Now) -> Plan:
    """What to take over: new branches always; HEAD, its branch and the index together or not at all."""
    fresh = tuple(
        (name, oid)
        for name, oid in sorted(session.refs.items())
        if name not in session.start_refs
        and name not in now.refs
        and name.startswith(("refs/heads/", "refs/tags/"))
    )
    if (session.branch, session.head) == (session.start_branch, session.start) or session.head is None:
        return Plan(create=fresh)
    if (now.branch, now.head) == (session.branch, session.head):  # a take-over that was cut off
        return Plan(create=fresh, index=now.same_index and session.staged)
    why = _against(session, now)
    if why:
        return Plan(create=fresh, why=why)
    others = tuple((name, oid) for name, oid in fresh if name != session.branch)
    switch = session.branch or "" if session.branch != session.start_branch else ""
    if session.branch is None:
        return Plan(create=others, move=("HEAD", session.head, now.head or ""), index=True)
    old = now.refs.get(session.branch, "")
    move = (session.branch, session.head, old) if old != session.head else None
    return Plan(create=others, move=move, switch=switch, index=True)


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
