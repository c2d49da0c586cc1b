"""A hold as a person and as scripts read it."""

import shlex
from typing import Any

from sekisho.cli.errors import Trouble
from sekisho.cli.show import block, heading, iso, when
from sekisho.core.display import one_line, suspicious
from sekisho.core.lifecycle import State
from sekisho.store.errors import StoreBroken
from sekisho.store.holds import Hold
from sekisho.store.sessions import SessionState, all_sessions
from sekisho.store.store import Store

OVER = (
    "its session is over: only a later session in {project} can run exactly this, once, where the files it "
    "depends on are the same; an approval waits for that until it expires"
)
COMMAND = "command"  # the tag of an artifact that a session runs, see sending.artifact
UNDONE = "nothing is known to undo it: look at what it would change first"
FIELDS = ("purpose", "why_held", "changes", "verification", "risk", "recovery")


def summary(hold: Hold) -> dict[str, Any]:
    """A hold as scripts read it."""
    return {
        "id": hold.id,
        "state": hold.state.value,
        "effect": hold.action.effect.value,
        "verb": hold.action.verb,
        "target": hold.target,
        "digest": hold.digest,
        "count": hold.count,
        "session": hold.session,
        "project": hold.project,
        "created": iso(hold.created),
        "updated": iso(hold.updated),
        "expires": iso(hold.expires),
        "reason": hold.reason,
        "decided_by": hold.decided_by,
    }


def show_hold(hold: Hold) -> None:
    """Everything that a person needs to decide."""
    times = f", asked {hold.count} times" if hold.count > 1 else ""
    print(f"{hold.id}  {hold.state}{times}")
    print(f"operation: {one_line(str(hold.evidence.get('operation', hold.action.verb)))}")
    print(f"target:    {one_line(hold.target)}")
    print(f"session:   {hold.session} in {one_line(hold.project)}, held {when(hold.created)}")
    print(f"digest:    {hold.digest}")
    if any(suspicious(str(hold.evidence.get(field, ""))) for field in FIELDS) or suspicious(hold.target):
        print("WARNING:   control, hidden or look-alike characters are in it; shown as <U+XXXX>")
    for warning in hold.evidence.get("warnings", ()):
        print(f"WARNING:   {one_line(str(warning))}")
    for field in FIELDS:
        heading(field.replace("_", " "))
        block(_shown(hold, field))
    size, shown = hold.evidence.get("size", 0), hold.evidence.get("shown", 0)
    if "body" in hold.evidence and size > shown:
        print(f"\nthe body has {size} bytes; {shown} are shown, the digest covers all")
    if hold.result:
        heading("result")
        block(str(hold.result.get("summary", "-")))
    if hold.reason:
        heading("reason")
        block(hold.reason)
    if steps := next_steps(hold):
        print("\n" + "\n".join(steps))


def _shown(hold: Hold, field: str) -> str:
    text = str(hold.evidence.get(field) or "-")
    if hold.artifact.get("type") != COMMAND:
        return text
    if field == "changes":
        return _command(hold)
    return UNDONE if field == "recovery" and text == "-" else text


def _command(hold: Hold) -> str:
    """What would run, as it would be typed, and what that does."""
    words = [str(word) for word in hold.artifact.get("argv", ())]
    does = f"{hold.action.target}: {hold.action.reason}"
    return f"{shlex.join(words)}\nin {hold.artifact.get('cwd', '-')}\n{does}"


def next_steps(hold: Hold) -> list[str]:
    """What a person can do about a hold now: commands, or what is for the agent to ask anew."""
    call = "sekisho approvals"
    if hold.state is State.PENDING:
        in_full = [f"{call} show {hold.id} --diff"] if "diff" in hold.evidence else []
        return [*in_full, f"{call} approve {hold.id}", f"{call} deny {hold.id} --reason TEXT"]
    if hold.state is State.APPROVED:
        return [f"{call} approve {hold.id}", f"{call} revoke {hold.id}"]
    if hold.state is State.UNKNOWN:
        return [f"look at its target, then: {call} settle {hold.id} done|failed"]
    if hold.state is State.SUPERSEDED and hold.superseded_by:
        return [f"a later one took its place: {call} show {hold.superseded_by}"]
    if hold.state in (State.VOID, State.EXPIRED, State.FAILED):
        return [f"nothing more is sent under {hold.id}; asked for again, it is held anew", _going_on(hold)]
    return []


def _going_on(hold: Hold) -> str:
    if all_sessions().folder(hold.session).path.is_dir():
        return f"go on from its session: sekisho run --from {hold.session} -- CMD"
    return (
        f"its session was tidied away; in {one_line(hold.project)} its work is taken with: "
        f"sekisho sessions apply {hold.session}"
    )


def show_diff(store: Store, hold: Hold) -> None:
    """All that a push sends, within bounds. Raises Trouble for what has none."""
    if "diff" not in hold.evidence:
        raise Trouble(f"{hold.id} has no diff", instead="its changes are shown above")
    left_out = " (not all that is sent can be shown; what is missing is named)"
    heading("diff" + (left_out if hold.evidence.get("diff_cut") else ""))
    block(store.blobs.read(hold.evidence["diff"]).decode("utf-8", "replace"), diff=True)


def left_to_an_ended_session(store: Store, hold: Hold) -> bool:
    """Whether a hold is a command, which only a session can run, and the one that asked has ended."""
    if hold.artifact.get("type") != COMMAND:
        return False
    try:
        state = store.sessions.folder(hold.session).load().seen_state
    except (StoreBroken, ValueError):
        return True  # its folder was tidied away
    return state in (SessionState.ENDED, SessionState.LOST)
