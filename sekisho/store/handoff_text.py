"""A handoff as a person reads it. Pure; foreign text stands in code only, see `markdown`."""

import shlex
from collections.abc import Iterable

from sekisho.store.handoff import DecidedHold, Handoff, HeldAct, TestRun
from sekisho.store.markdown import block, name, span
from sekisho.store.text import iso

_FIELDS = ("purpose", "changes", "verification", "risk", "recovery")


def render_markdown(handoff: Handoff) -> str:
    """The whole handoff as CommonMark."""
    sections = (
        _summary(handoff),
        _held(handoff.held),
        _going_on(handoff),
        _listed("Your working tree", map(span, handoff.takeover)),
        _work(handoff),
        _checkpoints(handoff),
        _listed("Tests that ran", map(_test, handoff.tests)) or "## Tests that ran\n\nNone was seen.",
        _listed("Refused", _denied(handoff)),
        _listed("Direct attempts that went nowhere", _attempts(handoff)),
        _listed("The gate was broken, the outside closed", (span(note) for note in handoff.gate_broken)),
        _listed("Decided", (_decided(hold) for hold in handoff.decided)),
        _listed("Changed files that would run on their own", (span(name(f)) for f in handoff.hook_files)),
        _listed("Repositories that it made in the tree", map(_repository, handoff.repositories)),
        _listed("Left in the session's clone", map(span, handoff.left)),
        _listed("Remarks", map(span, handoff.remarks)),
        _quoted("Notes of the agent", handoff.notes),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


_AS_OF = "So it stood when the session ended; `sekisho approvals list` says how it stands now."


def _summary(handoff: Handoff) -> str:
    status = "none" if handoff.exit_status is None else str(handoff.exit_status)
    waiting = len(handoff.held)
    headline = {0: "Nothing waits for a decision.", 1: "1 act waits for your decision."}.get(
        waiting, f"{waiting} acts wait for your decision."
    )
    return "\n".join(
        (
            f"# Session {span(handoff.session)}",
            "",
            f"**{headline}**",
            *([_AS_OF] if waiting else []),
            "",
            f"- ended: {span(handoff.ended_because)}",
            f"- exit status: {status}",
            f"- duration: {_duration(handoff.duration)}",
            f"- project: {span(name(handoff.project))}",
            "- command:",
            "",
            block(shlex.join(handoff.argv)),
        )
    )


def _held(acts: tuple[HeldAct, ...]) -> str:
    return "\n\n".join(["## Waiting for your decision", *map(_held_act, acts)]) if acts else ""


def _held_act(act: HeldAct) -> str:
    times = f" (asked for {act.count} times)" if act.count > 1 else ""
    parts = [
        f"### {span(act.id)}: {span(act.operation)}{times}",
        f"**Target:** {span(act.target)}",
        *(f"**Warning:** {span(warning)}" for warning in act.warnings),
    ]
    for field in _FIELDS:
        text: str = getattr(act, field)
        parts.append(f"**{field.capitalize()}:**" + (f"\n\n{block(text)}" if text else " not given"))
    parts.append(f"**Decide:**\n\n{block(_commands(act.id))}")
    return "\n\n".join(parts)


def _commands(hold_id: str) -> str:
    # Quoted, because a person copies these lines into a shell.
    word = shlex.quote(name(hold_id))
    return (
        f"sekisho approvals show {word}\n"
        f"sekisho approvals approve {word}\n"
        f"sekisho approvals deny {word} --reason-file FILE"
    )


def _going_on(handoff: Handoff) -> str:
    word = shlex.quote(name(handoff.session))
    commands = (
        f"sekisho sessions diff {word}\nsekisho sessions apply {word}\nsekisho run --from {word} -- COMMAND"
    )
    return f"## Going on\n\nThe work is in {span(name(handoff.work))}.\n\n{block(commands)}"


def _work(handoff: Handoff) -> str:
    commits = [
        f"{span(commit.id[:12])} {span(commit.subject)}" + (f" on {span(commit.ref)}" if commit.ref else "")
        for commit in handoff.commits
    ]
    based = f"Based on {span(handoff.base)}." if handoff.base else ""
    files = "\n".join(map(name, handoff.changed_files))
    sections = (
        _listed("Commits", commits, before=based) or "## Commits\n\nNone.",
        _quoted("Changes", handoff.diffstat),
        _quoted("Changed files", files),
    )
    return "\n\n".join(section for section in sections if section)


def _checkpoints(handoff: Handoff) -> str:
    rows = (f"{kept.number}: {span(kept.label)}, {iso(kept.time)}" for kept in handoff.checkpoints)
    word = shlex.quote(name(handoff.session))
    way = block(f"sekisho sessions restore {word}\nsekisho sessions restore {word} NUMBER")
    return _listed("Checkpoints", rows, before=f"The tree as it was before what is named.\n\n{way}")


def _repository(path: str) -> str:
    return f"{span(name(path))}: your git runs what its settings name, once you work in it"


def _test(run: TestRun) -> str:
    verdict = "verified" if run.verified else "**not verified**"
    why = f" ({span(run.why)})" if run.why else ""
    status = "unknown" if run.status is None else str(run.status)
    took = _duration(run.seconds)
    return (
        f"{span(shlex.join(run.argv))}: {verdict}{why}; {span(run.summary)}, exit status {status}, {took}, "
        f"at {iso(run.started)} on tree {span(run.tree[:12])}"
    )


def _denied(handoff: Handoff) -> Iterable[str]:
    for act in handoff.denied:
        instead = f"; instead: {span(act.instead)}" if act.instead else ""
        code = f" ({span(act.code)})" if act.code else ""
        yield f"{span(act.operation)} {span(act.target)}{_times(act.count)}{code}: {span(act.why)}{instead}"


def _attempts(handoff: Handoff) -> Iterable[str]:
    return (f"{span(attempt.destination)}{_times(attempt.count)}" for attempt in handoff.attempts)


def _decided(hold: DecidedHold) -> str:
    by = f" by {span(hold.by)}" if hold.by else ""
    reason = f": {span(hold.reason)}" if hold.reason else ""
    return f"{span(hold.id)} {span(hold.operation)} {span(hold.target)}: {span(hold.state)}{by}{reason}"


def _listed(title: str, items: Iterable[str], before: str = "") -> str:
    lines = [f"- {item}" for item in items]
    if not lines:
        return ""
    return "\n\n".join(part for part in (f"## {title}", before, "\n".join(lines)) if part)


def _quoted(title: str, text: str) -> str:
    return f"## {title}\n\n{block(text)}" if text else ""


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
