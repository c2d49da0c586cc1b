"""What a person is told when a session has ended."""

import json as jsonlib
import os
import sys
from typing import TextIO

from sekisho.core.display import one_line
from sekisho.session.launch import Ended

ORDINARY = "the command ended"


def report_end(ended: Ended, *, json: bool) -> None:
    """A few lines on standard error; with `json` one line on standard output besides.

    Whoever no longer reads them (`| head`, a terminal that was closed) changes no exit status.
    """
    _write(sys.stderr, "".join(f"{line}\n" for line in lines(ended)))
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


def lines(ended: Ended) -> list[str]:
    """Held first: it is what a person has to do something about."""
    handoff = ended.handoff
    said = [f"sekisho: session {handoff.session} ended with status {ended.status}"]
    if handoff.ended_because != ORDINARY:
        said.append(f"  why: {one_line(handoff.ended_because)}")
    said += [f"  held {act.id}: {one_line(act.operation)} {one_line(act.target)}" for act in handoff.held]
    if handoff.held:
        said.append("  decide: sekisho approvals show ID")
    said += [f"  denied: {one_line(act.operation)} {one_line(act.target)}" for act in handoff.denied[:5]]
    said += [f"  gate broken: {one_line(note)}" for note in handoff.gate_broken[:5]]
    if handoff.changed_files or handoff.commits:
        said.append(f"  {len(handoff.commits)} commits, {len(handoff.changed_files)} changed files")
        said.append(f"  look: sekisho sessions diff {handoff.session}")
        said.append(f"  take: sekisho sessions apply {handoff.session}")
    return [*said, f"  handoff: {ended.folder / 'handoff.md'}"]


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
        "handoff": str(ended.folder / "handoff.json"),
    }
