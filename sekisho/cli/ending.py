"""What a person is told when a session has ended."""

import contextlib
import json as jsonlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from sekisho.cli import notfound
from sekisho.cli.errors import Trouble
from sekisho.cli.holds import COMMAND
from sekisho.cli.opening import opened
from sekisho.cli.results import beside
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.session.finish import NOT_IMPORTED
from sekisho.session.launch import Ended
from sekisho.store.errors import LedgerError
from sekisho.store.handoff import DecidedHold, DeniedAct, HeldAct

ORDINARY = "the command ended"
MOST_ROWS = 10  # of one kind on a terminal; the handoff has all


def report_end(ended: Ended, *, json: bool) -> None:
    """A few lines on standard error; with `json` one line on standard output besides.

    Whoever no longer reads them (`| head`, a terminal that was closed) changes no exit status.
    """
    over = commands_among(ended.handoff.held)
    _write(sys.stderr, "".join(f"{line}\n" for line in lines(ended, over)))
    if json:
        _write(sys.stdout, jsonlib.dumps(summary(ended)) + "\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        # What is left in the buffer would be tried again at exit, with a message and status 120.
        nothing = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def commands_among(held: Sequence[HeldAct]) -> frozenset[str]:
    """The ids of held commands: only a session runs them, and this one is over."""
    if not held:
        return frozenset()
    with contextlib.suppress(Trouble, LedgerError), opened() as store:
        holds = [store.ledger.get(act.id) for act in held]
        return frozenset(hold.id for hold in holds if hold.artifact.get("type") == COMMAND)
    return frozenset()


def lines(ended: Ended, over: frozenset[str] = frozenset()) -> list[str]:
    """Held first: it is what a person has to do something about. `over` are the held commands."""
    handoff = ended.handoff
    said = [f"sekisho: session {handoff.session} ended with status {ended.status}"]
    if handoff.ended_because != ORDINARY:
        said.append(f"  why: {one_line(handoff.ended_because)}")
    elif ended.status:
        said += notfound.lines(ended.folder, handoff, ended.status)
    said += _held(handoff.held, over)
    said += _cut([f"  sent: {_sent(hold)}" for hold in handoff.decided if hold.state == State.DONE])
    said += _cut([f"  {_not_sent(hold)}" for hold in handoff.decided if hold.state != State.DONE])
    said += _cut(
        [f"  denied{_coded(act)}: {one_line(act.operation)} {one_line(act.target)}" for act in handoff.denied]
    )
    said += [f"  gate broken: {one_line(note)}" for note in handoff.gate_broken[:5]]
    said += _cut([f"  {one_line(row)}" for row in handoff.takeover])
    said += _cut([f"  made a repository in the tree: {one_line(path)}" for path in handoff.repositories])
    said += _cut([f"  left in the clone: {one_line(row)}" for row in handoff.left])
    said += [f"  {one_line(remark)}" for remark in handoff.remarks if remark.startswith(NOT_IMPORTED)]
    if handoff.changed_files or handoff.commits:
        commits = counted(len(handoff.commits), "commit")
        said.append(f"  {commits}, {counted(len(handoff.changed_files), 'changed file')}")
        said.append(f"  look: sekisho sessions diff {handoff.session}")
        said.append(f"  take: sekisho sessions apply {handoff.session}")
        said += [f"  {row}" for row in beside(Path(handoff.project), handoff.session)]
    if handoff.checkpoints:
        taken = counted(len(handoff.checkpoints), "checkpoint")
        said.append(f"  bring back: sekisho sessions restore {handoff.session} ({taken})")
    return [*said, f"  handoff: {ended.folder / 'handoff.md'}"]


def _held(held: Sequence[HeldAct], over: frozenset[str]) -> list[str]:
    said = [f"  held {act.id}: {one_line(act.operation)} {one_line(act.target)}" for act in held]
    if any(act.id not in over for act in held):
        said.append("  decide: sekisho approvals show ID")
    if commands := [act.id for act in held if act.id in over]:
        which = " ".join(commands)
        said.append(f"  commands that only a later session here can run, if it asks again: {which}")
        said.append(f"  of no use any more: sekisho approvals deny {which} --reason TEXT")
    return said


def _coded(act: DeniedAct) -> str:
    return f" ({one_line(act.code)})" if act.code else ""


def _sent(hold: DecidedHold) -> str:
    by = f" (by {one_line(hold.by)})" if hold.by else ""
    return f"{one_line(hold.operation)} {one_line(hold.target)}{by}"


def _not_sent(hold: DecidedHold) -> str:
    why = f" ({one_line(hold.reason)})" if hold.reason else ""
    by = f" by {one_line(hold.by)}" if hold.by else ""
    return f"{hold.state}{by}: {hold.id} {one_line(hold.operation)} {one_line(hold.target)}{why}"


def counted(number: int, thing: str) -> str:
    """A number of things in words: `1 commit`, `2 commits`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _cut(rows: list[str]) -> list[str]:
    more = len(rows) - MOST_ROWS
    return [*rows[:MOST_ROWS], f"  and {more} more, see the handoff"] if more > 0 else rows


def summary(ended: Ended) -> dict[str, object]:
    """The session for scripts. `outcome` tells clean, held, denied and broken apart."""
    handoff = ended.handoff
    outcome = "held" if handoff.held else "denied" if handoff.denied else "clean"
    return {
        "session": handoff.session,
        "status": ended.status,
        "outcome": "gate-broken" if handoff.gate_broken else outcome,
        "ended_because": handoff.ended_because,
        "duration": round(handoff.duration, 3),
        "held": [act.id for act in handoff.held],
        "denied": len(handoff.denied),
        "commits": len(handoff.commits),
        "changed_files": len(handoff.changed_files),
        "checkpoints": len(handoff.checkpoints),
        "handoff": str(ended.folder / "handoff.json"),
    }
