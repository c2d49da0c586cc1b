"""The end of a session, however it came: results imported, the handoff written, the record closed.

Called by the launcher; by the gatekeeper when the launcher died; and by the next command for what
both left behind. A lock makes it once, and everything in it can be repeated after a crash.
"""

import fcntl
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from sandbox.cgroup import remove_left
from sandbox.checkpoint.model import CheckpointError
from sandbox.errors import EnclosureError
from sandbox.workspace.git import GitError
from sandbox.workspace.model import Results, WorkspaceError
from sekisho.core.lifecycle import State
from sekisho.session import notes, outbox, place, records, testshown
from sekisho.session.config import AGENT_SOCKET, group_name
from sekisho.session.kept import known
from sekisho.store import handoff
from sekisho.store.errors import StoreBroken
from sekisho.store.handoff import Commit, DeniedAct, DirectAttempt, Handoff, Kept
from sekisho.store.handoff_text import render_markdown
from sekisho.store.holds import Hold
from sekisho.store.paths import socket_path
from sekisho.store.records import Record, draft
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

WAITING = (State.PENDING, State.APPROVED, State.EXECUTING, State.UNKNOWN)
NOT_IMPORTED = "the results could not be imported"
LOST = "the launcher was gone before the session ended"


@contextmanager
def _once(folder: SessionFolder) -> Iterator[None]:
    fd = os.open(folder.path / "finish.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def finish(store: Store | None, folder: SessionFolder, *, status: int | None, because: str = LOST) -> Handoff:
    """Finish a session and give its handoff; one that is finished already is only read.

    `store` is None where the store cannot be relied on: the work is collected all the same, and the
    handoff says that holds and denials are missing from it. Raises StoreBroken where even the session's
    own folder cannot be written.
    """
    with _once(folder):
        record = folder.load()
        if record.state is SessionState.ENDED:
            return handoff.load(folder)
        ended = time.time()
        # Of one that never ran there is nothing to collect.
        ran = record.state is SessionState.RUNNING
        results = _collect(folder) if ran else Results(session=folder.id, refs={})
        results = _recorded(store, folder, results)
        made = _handoff(store, folder, record, results, because, status, ended - record.started)
        handoff.write(folder, made, render_markdown(made))
        closed = msgspec.structs.replace(
            record, state=SessionState.ENDED, ended=ended, ended_because=because, exit_status=status
        )
        if store is not None:
            _journal(store, closed, made)
        folder.save(closed)
        if status is None:
            _tidy(folder.id)
        return made


def _tidy(session: str) -> None:
    """What a launcher that was killed could not take away."""
    remove_left(group_name(session))
    with suppress(OSError, StoreBroken):
        socket = socket_path(session, AGENT_SOCKET)
        socket.unlink(missing_ok=True)
        socket.parent.rmdir()


def collect_again(store: Store, folder: SessionFolder, remark: str) -> bool:
    """Collect a session that has ended once more, as its files were changed since, and say so in its handoff.

    False for one that has not ended, which is collected then, and for one that worked in place. Raises
    WorkspaceError, EnclosureError, OSError, ValueError or StoreBroken; results and handoff are then as they
    were, or the results are newer than the handoff.
    """
    with _once(folder):
        record = folder.load()
        where = place.read(folder.path)
        if record.state is not SessionState.ENDED or where.inplace is not None:
            return False
        before = handoff.load(folder)
        results = _recorded(store, folder, where.collect())
        made = _handoff(
            store, folder, record, results, before.ended_because, before.exit_status, before.duration
        )
        made = msgspec.structs.replace(made, remarks=(remark, *made.remarks))
        handoff.write(folder, made, render_markdown(made))
        return True


def _collect(folder: SessionFolder) -> Results:
    try:
        return place.read(folder.path).collect()
    except (OSError, ValueError, WorkspaceError, EnclosureError) as error:
        note = f"{NOT_IMPORTED}: {error}; the work itself lies in {_tree(folder)}"
        return Results(session=folder.id, refs={}, notes=(note,))


def _tree(folder: SessionFolder) -> str:
    """Where the files of a session lie: in its clone, or in place in the person's own tree."""
    try:
        return str(place.read(folder.path).tree)
    except (OSError, ValueError):  # its record is gone
        return str(folder.work)


def _recorded(store: Store | None, folder: SessionFolder, results: Results) -> Results:
    """The results, once what the session made is kept outside of the repository, too, or with a note."""
    why = _not_kept(store, folder) if results.refs else None
    if why is None:
        return results
    note = f"what the session made is recorded in its refs alone: {why}"
    return msgspec.structs.replace(results, notes=(*results.notes, note))


def _not_kept(store: Store | None, folder: SessionFolder) -> str | None:
    if store is None:
        return "the store could not be opened"
    try:
        records.keep(store.folder, place.read(folder.path).workspace)
    except (GitError, StoreBroken, OSError, ValueError) as error:
        return str(error)
    return None


def _handoff(
    store: Store | None,
    folder: SessionFolder,
    record: SessionRecord,
    results: Results,
    because: str,
    status: int | None,
    duration: float,
) -> Handoff:
    made = Handoff(
        session=record.id,
        project=record.project,
        argv=record.argv,
        ended_because=because,
        exit_status=status,
        duration=duration,
        work=_tree(folder),
        base=record.base,
        commits=tuple(Commit(id=c.oid, subject=_text(c.subject), ref=c.ref) for c in results.commits),
        diffstat=results.diffstat,
        changed_files=tuple(map(_text, results.changed)),
        hook_files=tuple(map(_text, results.hooklike)),
        gate_broken=notes.read(folder.path),
        takeover=results.takeover,
        repositories=tuple(map(_text, results.nested)),
        left=results.left,
        checkpoints=_checkpoints(folder),
        remarks=_remarks(results),
        notes=_letters(folder),
    )
    if store is None:
        return _without_store(made, "the store could not be opened")
    try:
        return _with_store(store, folder, made)
    except StoreBroken as broken:
        return _without_store(made, broken.reason)


def _remarks(results: Results) -> tuple[str, ...]:
    """What was found out while collecting."""
    skipped = (f"not carried: {_text(entry.path)} ({entry.reason})" for entry in results.skipped)
    return (*results.notes, *skipped)


def _letters(folder: SessionFolder) -> str:
    """What the agent left in its outbox, raw."""
    return "\n".join(f"{name}:\n{text}" for name, text in outbox.letters(folder.outbox))


def _checkpoints(folder: SessionFolder) -> tuple[Kept, ...]:
    """None where they cannot be read: `sessions restore` then says why."""
    with suppress(CheckpointError):
        return tuple(Kept(number=c.number, time=c.time, label=c.label) for c in known(folder.path))
    return ()


def _without_store(made: Handoff, reason: str) -> Handoff:
    said = f"holds, denials and attempts are missing here: {reason}"
    return msgspec.structs.replace(made, gate_broken=(*made.gate_broken, said))


def _with_store(store: Store, folder: SessionFolder, made: Handoff) -> Handoff:
    store.ledger.expire_due()  # nobody may have looked since
    holds = _holds(store, made.session)
    return msgspec.structs.replace(
        made,
        held=tuple(handoff.held_act(hold) for hold in holds if hold.state in WAITING),
        decided=tuple(handoff.decided_hold(hold) for hold in holds if hold.state not in WAITING),
        denied=_denied(store.journal.query(session=made.session, kind="act.denied")),
        attempts=_attempts(store.journal.query(session=made.session, kind="attempt.direct")),
        tests=testshown.at_end(store, made.session, folder.path),
    )


def _holds(store: Store, session: str) -> list[Hold]:
    """What this session asked for, also where an earlier one had asked before."""
    own = list(store.ledger.list(session=session))
    repeated = {
        record.subject
        for record in store.journal.query(kind="hold.repeated")
        if record.data.get("asked_by") == session
    }
    return own + [store.ledger.get(hold_id) for hold_id in sorted(repeated - {hold.id for hold in own})]


def _denied(records: list[Record]) -> tuple[DeniedAct, ...]:
    counted = Counter(record.subject for record in records)
    first = {record.subject: record.data for record in reversed(records)}
    return tuple(
        DeniedAct(
            operation=data["action"]["verb"],
            target=data["action"]["target"],
            why=data["reason"],
            instead=data.get("instead", ""),
            count=counted[subject],
            code=data.get("code", ""),
        )
        for subject, data in first.items()
    )


def _attempts(records: list[Record]) -> tuple[DirectAttempt, ...]:
    counted = Counter(
        f"{record.data['protocol']} {record.subject} ({record.data['reason']})" for record in records
    )
    return tuple(DirectAttempt(destination=where, count=count) for where, count in counted.items())


def _journal(store: Store, record: SessionRecord, made: Handoff) -> None:
    try:
        data = {
            "status": record.exit_status,
            "commits": len(made.commits),
            "held": [act.id for act in made.held],
            "denied": len(made.denied),
            # The counters themselves are not sealed; this record is.
            "reads": msgspec.to_builtins(store.journal.tallies(record.id)),
        }
        store.journal.append(
            draft(session=record.id, kind="session.ended", subject=record.ended_because, data=data)
        )
    except StoreBroken:
        return  # said in the handoff by whoever found it out first; the work must still be closed


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
