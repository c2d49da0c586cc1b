"""What a session leaves behind, for a person and for the next session."""

from typing import Any

import msgspec

from sekisho.store.files import write_atomic
from sekisho.store.holds import Hold
from sekisho.store.sessions import SessionFolder
from sekisho.store.text import from_file, to_file


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit of the session, as it was imported: object id, first line, full ref that holds it."""

    id: str
    subject: str
    ref: str = ""


class HeldAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act that waits: everything a person decides by. Texts may be of several lines; `warnings` come
    first."""

    id: str
    operation: str
    target: str
    purpose: str = ""
    changes: str = ""
    verification: str = ""
    risk: str = ""
    recovery: str = ""
    count: int = 1
    warnings: tuple[str, ...] = ()


class DeniedAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act that was refused: why, and what is the way instead. `code` is that of the refusal."""

    operation: str
    target: str
    why: str
    instead: str = ""
    count: int = 1
    code: str = ""


class DirectAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A way that does not exist was tried. `destination` as a person reads it (`tcp 1.2.3.4:22`)."""

    destination: str
    count: int = 1


class DecidedHold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold of this session that no longer waits."""

    id: str
    state: str
    operation: str
    target: str
    by: str = ""
    reason: str = ""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint of the session: its number, when (seconds since 1970), and before what it was taken."""

    number: int
    time: float
    label: str


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    """A test run that was seen, as it stands at the end of the session. Times in seconds.

    `counts` has numbers by name (passed, failed, skipped, deselected) and what they count; None: unknown.
    `tree` is the git tree of all files when it ended. `stale`: files changed since. `verified` is true only
    where the run shows that the final tree passes; else `why` says why not.
    """

    __test__ = False  # no test class for pytest

    argv: tuple[str, ...]
    cwd: str
    started: float
    seconds: float
    status: int | None
    counts: dict[str, Any] | None = None
    summary: str = ""
    tree: str = ""
    verified: bool = False
    stale: bool = False
    why: str = ""


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a session. Times and `duration` in seconds; `work` is the path of the working tree.

    `ended_because` is a sentence; `changed_files` are paths in the project; `hook_files` those that
    would run on their own (hooks, CI, policy); `tests` the last run of each test command;
    `gate_broken` says when and why the outside was closed; `takeover` what became of HEAD and branches in
    place; `repositories` are those made in the tree; `left` says what stays in submodules of the clone;
    `checkpoints` what `sessions restore` brings back; `remarks` are the program's own words, `notes` the
    agent's.
    """

    session: str
    project: str
    argv: tuple[str, ...]
    ended_because: str
    exit_status: int | None
    duration: float
    work: str
    base: str = ""
    commits: tuple[Commit, ...] = ()
    diffstat: str = ""
    changed_files: tuple[str, ...] = ()
    held: tuple[HeldAct, ...] = ()
    denied: tuple[DeniedAct, ...] = ()
    attempts: tuple[DirectAttempt, ...] = ()
    gate_broken: tuple[str, ...] = ()
    decided: tuple[DecidedHold, ...] = ()
    hook_files: tuple[str, ...] = ()
    tests: tuple[TestRun, ...] = ()
    takeover: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    checkpoints: tuple[Kept, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: str = ""


def held_act(hold: Hold) -> HeldAct:
    """A hold as an approval request. Its evidence may give `purpose`, `changes`, `verification`, `risk`
    and `recovery`, each as text.
    """
    given = {name: _text(hold.evidence.get(name)) for name in ("changes", "verification", "risk", "recovery")}
    return HeldAct(
        id=hold.id,
        operation=hold.action.verb,
        target=hold.target,
        purpose=_text(hold.evidence.get("purpose")) or hold.action.reason,
        count=hold.count,
        warnings=tuple(map(str, hold.evidence.get("warnings") or ())),
        **given,
    )


def decided_hold(hold: Hold) -> DecidedHold:
    """A hold that has been decided, or has ended otherwise."""
    return DecidedHold(
        id=hold.id,
        state=hold.state.value,
        operation=hold.action.verb,
        target=hold.target,
        by=hold.decided_by or "",
        reason=hold.reason or "",
    )


def write(folder: SessionFolder, handoff: Handoff, markdown: str) -> None:
    """Leave `handoff.json` and `handoff.md` (of `render_markdown`). Raises `StoreBroken`."""
    write_atomic(folder.handoff_json, to_file(handoff))
    write_atomic(folder.handoff_markdown, markdown.encode())


def load(folder: SessionFolder) -> Handoff:
    """The handoff of a session that has ended. Raises `StoreBroken`."""
    return from_file(folder.handoff_json, Handoff)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return to_file(value).decode().strip()
