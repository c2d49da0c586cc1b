"""What a person needs to decide: the act prepared as a request for approval. Pure.

The keys are those of the mission: purpose, operation, target, changes, verification, risk, recovery.
Texts of the agent's stay raw here; whoever shows them makes them visible.
"""

import shlex
from collections.abc import Sequence
from typing import Any

from sandbox.workspace.held import HeldPush, HeldRef, SentCommit
from sandbox.workspace.scanning import Finding
from sekisho.core.action import Action, Credential, Reach, Stakes
from sekisho.core.verdict import Decision
from sekisho.sending.artifact import HttpAct

OWN = "own_files"
OWN_SHOWN = 20  # names of the person's own files
BODY_SHOWN = 64 * 1024  # bytes of a body that are shown; the digest covers all of it
PUSH_SHOWN = 256 * 1024  # characters of commits and tags
SUBJECT_SHOWN = 1000  # bytes
PATHS_SHOWN = 20  # of each commit

# By the code of what held it: what does more than an approval.
_BETTER = {
    "model-not-configured": "this is the agent's own model call: instead of approving it, name the provider "
    "in the policy with [[network.model]] (docs/agents.md), and its calls are free",
}
_REVERSIBLE = {True: "can be undone", False: "cannot be undone by itself"}


def base(decision: Decision, *, purpose: str, verification: str = "") -> dict[str, Any]:
    """The part that every act has."""
    return {
        "purpose": purpose or "(the agent gave none)",
        "operation": decision.action.verb,
        "target": decision.action.target,
        "why_held": decision.reason,
        "verification": verification or "no tests were seen in this session",
        "risk": risk(decision.action),
        "warnings": [_BETTER[decision.code]] if decision.code in _BETTER else [],
    }


def risk(action: Action) -> str:
    """The five answers in words."""
    answers = action.answers
    parts = [_REVERSIBLE[answers.reversible]]
    if answers.reach is Reach.PRODUCTION:
        parts.append("reaches PRODUCTION")
    elif answers.reach is Reach.OUTSIDE:
        parts.append("reaches outside the sandbox")
    if answers.credential is not Credential.NONE:
        parts.append(f"uses a {answers.credential} credential")
    if answers.stakes is not Stakes.NONE:
        parts.append(f"moves {answers.stakes}")
    parts.append("checkable by machine" if answers.checkable else "only a person can judge the result")
    return "; ".join(parts)


def of_request(decision: Decision, act: HttpAct, body: bytes | None, **texts: str) -> dict[str, Any]:
    """Evidence of a held request. `body` is its beginning."""
    head = "\n".join(f"{name}: {value}" for name, value in act.headers)
    shown = (body or b"")[:BODY_SHOWN]
    return {
        **base(decision, **texts),
        "operation": f"{act.method} ({decision.action.verb})",
        "target": act.url,
        "changes": f"{act.method} {act.path}\n{head}\n\n{shown.decode('utf-8', 'replace')}",
        "size": act.size,
        "body": act.body,
        "shown": len(shown),
        "recovery": "depends on the service; sekisho keeps the exact request and its answer",
    }


def of_push(
    decision: Decision, held: HeldPush, diff: str, *, own: bool = True, certain: bool = True, **texts: str
) -> dict[str, Any]:
    """Evidence of a held push. `diff` is the digest of the blob that has it in full; `own`: to a remote that
    the person's repository has; `certain`: that remote could be asked what it has."""
    refs = decision.action.detail["refs"]
    options = decision.action.detail.get("push_options", ())
    told = ["it has push options, by which a forge merges, deploys or skips checks"] if options else []
    if held.own:
        told.append(_own_files(held.own))
    if not own:
        told.append("the remote is none of your repository's: all of the history below leaves for it")
    if not certain:
        told.append("the remote could not be read: left out below is only what was last seen of it")
    remote = str(decision.action.detail["remote"])
    room = _Room()
    changes = [_ref_text(ref, room) for ref in held.refs]
    return {
        **base(decision, **texts),
        "changes": "\n".join([*changes, *map(_option_text, options)]),
        OWN: [_path(path) for path in held.own],
        "diff": diff,
        "diff_cut": held.diff_cut,
        "objects": held.objects,
        "size": held.size,
        "warnings": [*told, *map(_warning, held.secrets.findings), *held.secrets.notes],
        "recovery": "\n".join(_recovery(remote, entry) for entry in refs),
    }


class _Room:
    """What of a push is shown beside its decision is bounded; the rest is where --diff looks."""

    def __init__(self) -> None:
        self._left = PUSH_SHOWN

    def take(self, text: str, instead: str) -> str:
        if len(text) > self._left:
            return instead
        self._left -= len(text)
        return text


def _ref_text(ref: HeldRef, room: _Room) -> str:
    lines = [f"{ref.ref}: {_movement(ref)}"]
    unseen = "  an annotated tag (--diff shows it)"
    lines += [room.take(_deeper("annotated tag:", tag), unseen) for tag in ref.tags]
    told = [_commit_text(commit, room) for commit in ref.log]
    lines += filter(None, told)
    if untold := told.count(""):
        lines.append(f"  and {untold} commits that only --diff lists")
    if ref.more:
        lines.append(f"  and {ref.more} older commits")
    return "\n".join([*lines, *ref.notes, ref.diffstat])


def _commit_text(commit: SentCommit, room: _Room) -> str:
    head = f"  {commit.oid[:12]} {_path(commit.subject[:SUBJECT_SHOWN])}"
    if (shown := room.take(head, "")) == "":
        return ""
    details = []
    if commit.message.strip() != commit.subject.strip():
        details.append(_deeper("  the whole message:", commit.message))
    details += [f"      {_path(path)}" for path in commit.paths[:PATHS_SHOWN]]
    if more := len(commit.paths[PATHS_SHOWN:]) + commit.more_paths:
        details.append(f"      and {more} more paths")
    return "\n".join(
        [shown, room.take("\n".join(details), "      (--diff shows its message and paths)")]
    ).rstrip()


def _deeper(title: str, text: bytes) -> str:
    return "\n".join([f"  {title}", *(f"      | {line}" for line in _path(text).rstrip("\n").split("\n"))])


def _own_files(paths: Sequence[bytes]) -> str:
    more = f" and {len(paths) - OWN_SHOWN} more" if len(paths) > OWN_SHOWN else ""
    names = ", ".join(map(_path, paths[:OWN_SHOWN])) + more
    return f"it publishes files of your own that you had not committed when the work began: {names}"


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _option_text(option: object) -> str:
    return f"push option: {option}"


def _movement(ref: HeldRef) -> str:
    old, new = ref.old[:12], ref.new[:12]
    if not ref.old.strip("0"):
        return f"new, at {new}"
    if not ref.new.strip("0"):
        return f"DELETED, was {old}"
    if ref.is_ancestor is None:
        return f"{old} -> {new} (may replace commits)"
    return f"{old} -> {new} ({'fast-forward' if ref.is_ancestor else 'FORCE: replaces commits'})"


def _warning(finding: Finding) -> str:
    path = _path(finding.path) or "the message"
    where = finding.commit[:12] or "the pack"
    return f"looks like a secret ({finding.rule}): {path} line {finding.line} in {where}"


def _recovery(remote: str, entry: dict[str, Any]) -> str:
    """A command to copy into a shell: names in it are the agent's, so every word is quoted."""
    ref, old, new = (str(entry[name]) for name in ("ref", "old", "new"))
    if entry["op"] == "create":
        return shlex.join(["git", "push", remote, "--delete", ref])
    lease = f"--force-with-lease={ref}:{new if new.strip('0') else ''}"
    return shlex.join(["git", "push", lease, remote, f"{old}:{ref}"])
